// HPP lattice gas: damping of a standing sound wave, ensemble average.
// One word per site and direction; its 64 bits are 64 independent systems.
use std::thread;

const N: usize = 64;
const P: usize = N + 8; // row pitch, ghost columns included

struct Gas {
    // east, west, north, south movers
    f: [Vec<u64>; 4],
    g: [Vec<u64>; 4],
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    // 64 bits, each set with probability k / 16
    fn biased(&mut self, k: u32) -> u64 {
        let mut w = 0;
        for b in 0..4 {
            let r = self.next();
            w = if (k >> b) & 1 == 1 { w | r } else { w & r };
        }
        w
    }
}

impl Gas {
    fn new(seed: u64) -> Self {
        let plane = || vec![0u64; N * P];
        let mut gas = Gas {
            f: [plane(), plane(), plane(), plane()],
            g: [plane(), plane(), plane(), plane()],
        };
        let mut rng = Random(seed);
        for y in 0..N {
            for x in 0..N {
                let wave = (std::f64::consts::TAU * x as f64 / N as f64).cos();
                let k = (5.0 + 2.0 * wave).round() as u32;
                for d in 0..4 {
                    gas.f[d][y * P + 4 + x] = rng.biased(k);
                }
            }
        }
        gas
    }

    fn step(&mut self) {
        for y in 0..N {
            let row = y * P;
            for d in 0..2 {
                self.f[d][row + 3] = self.f[d][row + 3 + N];
                self.f[d][row + 4 + N] = self.f[d][row + 4];
            }
        }
        let [e, w, n, s] = &self.f;
        let [ge, gw, gn, gs] = &mut self.g;
        for y in 0..N {
            let row = y * P;
            let below = (y + N - 1) % N * P;
            let above = (y + 1) % N * P;
            let (e, w) = (&e[row + 3..][..N], &w[row + 5..][..N]);
            let (n, s) = (&n[below + 4..][..N], &s[above + 4..][..N]);
            let (ge, gw) = (&mut ge[row + 4..][..N], &mut gw[row + 4..][..N]);
            let (gn, gs) = (&mut gn[row + 4..][..N], &mut gs[row + 4..][..N]);
            for x in 0..N {
                let (a, b, c, d) = (e[x], w[x], n[x], s[x]);
                // head-on pairs leave at right angles
                let turn = (a & b & !c & !d) | (c & d & !a & !b);
                ge[x] = a ^ turn;
                gw[x] = b ^ turn;
                gn[x] = c ^ turn;
                gs[x] = d ^ turn;
            }
        }
        std::mem::swap(&mut self.f, &mut self.g);
    }

    // first Fourier mode of the density along x, per site and system
    fn mode(&self) -> f64 {
        let mut count = [0u64; N];
        for f in &self.f {
            for y in 0..N {
                for (c, w) in count.iter_mut().zip(&f[y * P + 4..][..N]) {
                    *c += w.count_ones() as u64;
                }
            }
        }
        let mut m = 0.0;
        for (x, c) in count.iter().enumerate() {
            m += *c as f64 * (std::f64::consts::TAU * x as f64 / N as f64).cos();
        }
        2.0 * m / (N * N * 64) as f64
    }
}

fn main() {
    let args: Vec<usize> = std::env::args()
        .skip(1)
        .map(|a| a.parse().expect("number expected"))
        .collect();
    let groups = *args.first().unwrap_or(&20);
    let steps = *args.get(1).unwrap_or(&10000);
    let workers = *args.get(2).unwrap_or(&2);
    const EVERY: usize = 16;

    let team: Vec<_> = (0..workers)
        .map(|w| {
            thread::spawn(move || {
                let mut sum = vec![0.0; steps / EVERY];
                for g in (w..groups).step_by(workers) {
                    let mut gas = Gas::new(0x9e37_79b9_7f4a_7c15 ^ ((g as u64 + 1) << 20));
                    for t in 0..steps {
                        if t % EVERY == 0 && t / EVERY < sum.len() {
                            sum[t / EVERY] += gas.mode();
                        }
                        gas.step();
                    }
                }
                sum
            })
        })
        .collect();
    let mut mean = vec![0.0; steps / EVERY];
    for t in team {
        for (m, s) in mean.iter_mut().zip(t.join().unwrap()) {
            *m += s / groups as f64;
        }
    }

    println!("systems {}  steps {}", 64 * groups, steps);
    for (k, m) in mean.iter().enumerate().take(24) {
        println!("t {:5}  mode {:+.6}", k * EVERY, m);
    }
    let tail = &mean[mean.len() / 2..];
    let rms = (tail.iter().map(|m| m * m).sum::<f64>() / tail.len() as f64).sqrt();
    println!("late rms {:.6}", rms);
}
