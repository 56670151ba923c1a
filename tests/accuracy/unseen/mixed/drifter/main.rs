// Lagrangian drifters in a double-gyre circulation, fourth-order Runge-Kutta.
// Positions are logged at fixed intervals for the plotting scripts.

use std::env;
use std::f64::consts::PI;
use std::fs::File;
use std::io::{self, Write};

#[derive(Clone, Copy, Default)]
struct Drifter {
    x: f64,
    y: f64,
    path: f64,
}

struct DoubleGyre {
    amp: f64,
    eps: f64,
    omega: f64,
}

impl DoubleGyre {
    fn velocity(&self, x: f64, y: f64, t: f64) -> (f64, f64) {
        let s = self.eps * (self.omega * t).sin();
        let f = s * x * x + (1.0 - 2.0 * s) * x;
        let df = 2.0 * s * x + 1.0 - 2.0 * s;
        let (sf, cf) = (PI * f).sin_cos();
        let (sy, cy) = (PI * y).sin_cos();
        (-PI * self.amp * sf * cy, PI * self.amp * cf * sy * df)
    }

    fn step(&self, d: &mut Drifter, t: f64, h: f64) {
        let (u1, v1) = self.velocity(d.x, d.y, t);
        let (u2, v2) = self.velocity(d.x + 0.5 * h * u1, d.y + 0.5 * h * v1, t + 0.5 * h);
        let (u3, v3) = self.velocity(d.x + 0.5 * h * u2, d.y + 0.5 * h * v2, t + 0.5 * h);
        let (u4, v4) = self.velocity(d.x + h * u3, d.y + h * v3, t + h);
        let dx = h / 6.0 * (u1 + 2.0 * u2 + 2.0 * u3 + u4);
        let dy = h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
        d.x += dx;
        d.y += dy;
        d.path += dx.hypot(dy);
    }
}

fn release_line(n: usize) -> Vec<Drifter> {
    (0..n)
        .map(|i| {
            let s = (i as f64 + 0.5) / n as f64;
            Drifter { x: 0.2 + 1.6 * s, y: 0.5 + 0.3 * (9.0 * s).sin(), path: 0.0 }
        })
        .collect()
}

struct TrackLog {
    out: File,
    records: usize,
}

impl TrackLog {
    fn create(name: &str) -> io::Result<TrackLog> {
        let mut out = File::create(name)?;
        writeln!(out, "# time id x y path")?;
        Ok(TrackLog { out, records: 0 })
    }

    fn record(&mut self, t: f64, fleet: &[Drifter]) -> io::Result<()> {
        for (id, d) in fleet.iter().enumerate() {
            writeln!(self.out, "{:.3} {} {:.6} {:.6} {:.5}", t, id, d.x, d.y, d.path)?;
            self.records += 1;
        }
        Ok(())
    }
}

fn spread(fleet: &[Drifter]) -> (f64, f64, f64) {
    let n = fleet.len() as f64;
    let mx = fleet.iter().map(|d| d.x).sum::<f64>() / n;
    let my = fleet.iter().map(|d| d.y).sum::<f64>() / n;
    let var = fleet.iter().map(|d| (d.x - mx).powi(2) + (d.y - my).powi(2)).sum::<f64>() / n;
    (mx, my, var.sqrt())
}

fn main() -> io::Result<()> {
    let mut args = env::args().skip(1);
    let n: usize = args.next().and_then(|s| s.parse().ok()).unwrap_or(400);
    let steps: usize = args.next().and_then(|s| s.parse().ok()).unwrap_or(4000);
    let every: usize = args.next().and_then(|s| s.parse().ok()).unwrap_or(10);

    let flow = DoubleGyre { amp: 0.1, eps: 0.25, omega: 2.0 * PI / 10.0 };
    let mut fleet = release_line(n);
    let mut log = TrackLog::create("tracks.txt")?;
    let h = 0.01;

    for k in 0..steps {
        let t = k as f64 * h;
        if k % every == 0 {
            log.record(t, &fleet)?;
        }
        for d in fleet.iter_mut() {
            flow.step(d, t, h);
        }
    }
    log.record(steps as f64 * h, &fleet)?;

    let (mx, my, s) = spread(&fleet);
    let longest = fleet.iter().fold(0.0f64, |m, d| m.max(d.path));
    println!("records {}", log.records);
    println!("centre {:.6} {:.6} spread {:.6} longest path {:.5}", mx, my, s, longest);
    Ok(())
}
