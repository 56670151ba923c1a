// Ions in a magnetic mirror: how long they stay, and how often they turn.
// Boris pusher, field of two coils near the axis; pitch angle scanned from
// along the field to across it.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[derive(Clone, Copy)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

impl Vec3 {
    fn new(x: f64, y: f64, z: f64) -> Self {
        Vec3 { x, y, z }
    }
    fn cross(self, o: Vec3) -> Vec3 {
        Vec3::new(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }
    fn dot(self, o: Vec3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn axpy(self, a: f64, o: Vec3) -> Vec3 {
        Vec3::new(self.x + a * o.x, self.y + a * o.y, self.z + a * o.z)
    }
}

struct Mirror {
    ratio: f64,
    half_length: f64,
}

impl Mirror {
    // B_z = 1 + (R-1) sin^2(pi z / 2L), B_r from div B = 0 to first order in r
    fn field(&self, p: Vec3) -> Vec3 {
        let k = std::f64::consts::FRAC_PI_2 / self.half_length;
        let (s, c) = (k * p.z).sin_cos();
        let bz = 1.0 + (self.ratio - 1.0) * s * s;
        let db = 2.0 * (self.ratio - 1.0) * k * s * c;
        Vec3::new(-0.5 * p.x * db, -0.5 * p.y * db, bz)
    }
}

#[derive(Clone, Copy, Default)]
struct Fate {
    time: f64,
    turns: u32,
    lost: bool,
    mu_drift: f64,
}

fn moment(v: Vec3, b: Vec3) -> f64 {
    let b2 = b.dot(b);
    let par = v.dot(b);
    (v.dot(v) - par * par / b2) / b2.sqrt()
}

fn follow(m: &Mirror, pitch: f64, phase: f64, steps: u32) -> Fate {
    let dt = 0.05;
    let mut r = Vec3::new(0.3, 0.0, 0.0);
    let mut v = Vec3::new(
        pitch.sin() * phase.cos(),
        pitch.sin() * phase.sin(),
        pitch.cos(),
    );
    let mu0 = moment(v, m.field(r));
    let mut fate = Fate::default();
    for s in 0..steps {
        let b = m.field(r);
        let t = Vec3::new(0.5 * dt * b.x, 0.5 * dt * b.y, 0.5 * dt * b.z);
        let f = 2.0 / (1.0 + t.dot(t));
        let w = v.axpy(1.0, v.cross(t));
        let vn = v.axpy(f, w.cross(t));
        if vn.z * v.z < 0.0 {
            fate.turns += 1;
        }
        v = vn;
        r = r.axpy(dt, v);
        fate.time = dt * (s + 1) as f64;
        if r.z.abs() > m.half_length {
            fate.lost = true;
            break;
        }
    }
    fate.mu_drift = moment(v, m.field(r)) / mu0 - 1.0;
    fate
}

fn main() {
    let args: Vec<usize> = std::env::args()
        .skip(1)
        .map(|a| a.parse().expect("number expected"))
        .collect();
    let n = *args.first().unwrap_or(&2000);
    let steps = *args.get(1).unwrap_or(&20000) as u32;
    let workers = *args.get(2).unwrap_or(&2);

    let m = Mirror {
        ratio: 1.9,
        half_length: 60.0,
    };
    let start = |i: usize| {
        let pitch = (0.02 + 0.96 * i as f64 / n as f64) * std::f64::consts::FRAC_PI_2;
        let phase = 2.399963 * i as f64;
        (pitch, phase)
    };

    let mut fates = vec![Fate::default(); n];
    let next = AtomicUsize::new(0);
    thread::scope(|s| {
        let team: Vec<_> = (0..workers)
            .map(|_| {
                s.spawn(|| {
                    let mut done = Vec::new();
                    loop {
                        let first = next.fetch_add(8, Ordering::Relaxed);
                        if first >= n {
                            return done;
                        }
                        for i in first..(first + 8).min(n) {
                            let (pitch, phase) = start(i);
                            done.push((i, follow(&m, pitch, phase, steps)));
                        }
                    }
                })
            })
            .collect();
        for t in team {
            for (i, f) in t.join().unwrap() {
                fates[i] = f;
            }
        }
    });

    let lost = fates.iter().filter(|f| f.lost).count();
    let turns: u64 = fates.iter().map(|f| f.turns as u64).sum();
    let last = fates.iter().rposition(|f| f.lost);
    println!("ions {n}  lost {lost}  turns {turns}");
    if let Some(i) = last {
        println!("loss cone ends near {:.3} deg", start(i).0.to_degrees());
    }
    for i in (0..n).step_by((n / 8).max(1)) {
        let f = &fates[i];
        println!(
            "pitch {:6.2}  time {:10.2}  turns {:4}  mu drift {:+.3e}",
            start(i).0.to_degrees(),
            f.time,
            f.turns,
            f.mu_drift
        );
    }
}
