// Conduction velocity in excitable tissue: an ensemble of FitzHugh-Nagumo
// cables with scattered recovery rates, each one paced at its left end.

use std::env;
use std::thread;

#[derive(Clone, Copy)]
struct Params {
    a: f64,
    eps: f64,
    beta: f64,
    diff: f64,
}

struct Cable {
    v: Vec<f64>,
    w: Vec<f64>,
    v_new: Vec<f64>,
    w_new: Vec<f64>,
    arrival: Option<usize>,
}

impl Cable {
    fn resting(n: usize) -> Cable {
        Cable {
            v: vec![0.0; n],
            w: vec![0.0; n],
            v_new: vec![0.0; n],
            w_new: vec![0.0; n],
            arrival: None,
        }
    }

    fn pace(&mut self, width: usize) {
        for v in self.v.iter_mut().take(width) {
            *v = 1.0;
        }
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.v, &mut self.v_new);
        std::mem::swap(&mut self.w, &mut self.w_new);
    }
}

fn reaction_diffusion(p: &Params, dt: f64, v: &[f64], w: &[f64], lo: usize, vn: &mut [f64], wn: &mut [f64]) {
    let last = v.len() - 1;
    for (j, (vo, wo)) in vn.iter_mut().zip(wn.iter_mut()).enumerate() {
        let i = lo + j;
        let left = v[if i == 0 { 1 } else { i - 1 }];
        let right = v[if i == last { last - 1 } else { i + 1 }];
        let lap = left - 2.0 * v[i] + right;
        let ion = v[i] * (1.0 - v[i]) * (v[i] - p.a) - w[i];
        *vo = v[i] + dt * (ion + p.diff * lap);
        *wo = w[i] + dt * p.eps * (p.beta * v[i] - w[i]);
    }
}

fn step(cable: &mut Cable, p: &Params, dt: f64) {
    reaction_diffusion(p, dt, &cable.v, &cable.w, 0, &mut cable.v_new, &mut cable.w_new);
    cable.swap();
}

fn run_member(p: &Params, n: usize, nsteps: usize) -> (f64, f64) {
    let dt = 0.2;
    let probe = n / 5;
    let mut cable = Cable::resting(n);
    for k in 0..nsteps {
        if k % 5000 == 0 {
            cable.pace(8);
        }
        step(&mut cable, p, dt);
        if cable.arrival.is_none() && cable.v[probe] > 0.5 {
            cable.arrival = Some(k);
        }
    }
    let speed = match cable.arrival {
        Some(k) => probe as f64 / (k as f64 * dt),
        None => 0.0,
    };
    let load = cable.w.iter().sum::<f64>() / n as f64;
    (speed, load)
}

fn ensemble(size: usize) -> Vec<Params> {
    (0..size)
        .map(|m| {
            let f = m as f64 / size as f64;
            Params { a: 0.10 + 0.03 * f, eps: 0.005 + 0.002 * f, beta: 0.5, diff: 1.0 }
        })
        .collect()
}

fn run_ensemble(members: &[Params], n: usize, nsteps: usize, nthreads: usize) -> Vec<(f64, f64)> {
    let part = members.len().div_ceil(nthreads);
    let mut result = vec![(0.0, 0.0); members.len()];
    thread::scope(|s| {
        for (rs, ps) in result.chunks_mut(part).zip(members.chunks(part)) {
            s.spawn(move || {
                for (r, p) in rs.iter_mut().zip(ps) {
                    *r = run_member(p, n, nsteps);
                }
            });
        }
    });
    result
}

fn main() {
    let args: Vec<usize> = env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let (size, n, nsteps, nthreads) = match args[..] {
        [a, b, c, d] => (a, b, c, d),
        _ => (16, 300, 4000, 2),
    };
    let members = ensemble(size);
    let result = run_ensemble(&members, n, nsteps, nthreads);
    for (m, (speed, load)) in result.iter().enumerate() {
        println!("member {:3}  speed {:.5}  recovery {:.7}", m, speed, load);
    }
}
