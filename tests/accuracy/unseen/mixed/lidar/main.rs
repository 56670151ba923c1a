// Forward model of a spaceborne waveform lidar over forested terrain.
// Every shot is built up from single photon returns; the stacked waveforms
// of a ground strip give the canopy height profile.

use std::env;
use std::sync::{Arc, Mutex};
use std::thread;

const BIN_M: f64 = 0.15;
const NBINS: usize = 512;
const TOP_M: f64 = 60.0;

#[derive(Clone, Copy)]
struct Instrument {
    footprint_m: f64,
    pulse_sigma_m: f64,
    ground_fraction: f64,
}

struct Waveform {
    counts: Vec<u64>,
    photons: u64,
    lost: u64,
}

impl Waveform {
    fn new() -> Self {
        Waveform { counts: vec![0; NBINS], photons: 0, lost: 0 }
    }

    fn add(&mut self, height: f64) {
        let pos = (TOP_M - height) / BIN_M;
        if pos >= 0.0 && pos < NBINS as f64 {
            self.counts[pos as usize] += 1;
            self.photons += 1;
        } else {
            self.lost += 1;
        }
    }
}

struct Rng(u64);

impl Rng {
    fn seeded(shot: u64) -> Self {
        let mut r = Rng(shot.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03);
        r.next();
        r.next();
        r
    }
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// Two uniforms in [0, 1) from one draw.
    fn pair(&mut self) -> (f64, f64) {
        let w = self.next();
        const S: f64 = 1.0 / (1u64 << 32) as f64;
        ((w >> 32) as f64 * S, (w & 0xFFFF_FFFF) as f64 * S)
    }
}

/// Terrain plane and stand height below one footprint.
struct Footprint {
    ground: f64,
    slope_x: f64,
    slope_y: f64,
    canopy: f64,
}

fn terrain(x: f64, y: f64) -> f64 {
    let a = x * 0.013 - (x * 0.013).floor() - 0.5;
    let b = y * 0.021 - (y * 0.021).floor() - 0.5;
    6.0 * (0.25 - a * a) * 4.0 + 3.0 * (0.25 - b * b) * 4.0
}

fn canopy_height(x: f64, y: f64) -> f64 {
    let stand = ((x * 0.05).floor() as i64 * 7 + (y * 0.05).floor() as i64 * 13).rem_euclid(11);
    8.0 + 2.1 * stand as f64
}

fn footprint(inst: &Instrument, x: f64, y: f64) -> Footprint {
    let d = inst.footprint_m;
    Footprint {
        ground: terrain(x, y),
        slope_x: terrain(x + 0.5 * d, y) - terrain(x - 0.5 * d, y),
        slope_y: terrain(x, y + 0.5 * d) - terrain(x, y - 0.5 * d),
        canopy: canopy_height(x, y),
    }
}

fn photon_height(rng: &mut Rng, inst: &Instrument, fp: &Footprint) -> f64 {
    let (px, py) = rng.pair();
    let (hit, depth) = rng.pair();
    let ground = fp.ground + fp.slope_x * (px - 0.5) + fp.slope_y * (py - 0.5);
    let above = if hit < inst.ground_fraction { 0.0 } else { fp.canopy * (1.0 - 0.8 * depth * depth) };
    let (e, f) = rng.pair();
    ground + above + inst.pulse_sigma_m * 2.4494897 * (e + f - 1.0)
}

fn fire_shots(
    inst: Instrument,
    shots: std::ops::Range<u64>,
    photons_per_shot: usize,
    strip: Arc<Mutex<Waveform>>,
) {
    for shot in shots {
        let mut rng = Rng::seeded(shot + 1);
        let cx = 0.7 * shot as f64;
        let cy = 40.0 + 0.03 * shot as f64;
        let fp = footprint(&inst, cx, cy);
        for _ in 0..photons_per_shot {
            strip.lock().unwrap().add(photon_height(&mut rng, &inst, &fp));
        }
    }
}

fn percentile(w: &Waveform, q: f64) -> f64 {
    let target = (w.photons as f64 * q) as u64;
    let mut acc = 0;
    for (i, c) in w.counts.iter().enumerate().rev() {
        acc += c;
        if acc >= target {
            return TOP_M - (i as f64 + 0.5) * BIN_M;
        }
    }
    TOP_M
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let nshots: u64 = args.get(1).and_then(|s| s.parse().ok()).unwrap_or(2000);
    let per_shot: usize = args.get(2).and_then(|s| s.parse().ok()).unwrap_or(10_000);
    let nthreads: u64 = args.get(3).and_then(|s| s.parse().ok()).unwrap_or(2);

    let inst = Instrument { footprint_m: 25.0, pulse_sigma_m: 0.9, ground_fraction: 0.35 };
    let strip = Arc::new(Mutex::new(Waveform::new()));

    let handles: Vec<_> = (0..nthreads)
        .map(|t| {
            let range = nshots * t / nthreads..nshots * (t + 1) / nthreads;
            let strip = Arc::clone(&strip);
            thread::spawn(move || fire_shots(inst, range, per_shot, strip))
        })
        .collect();
    for h in handles {
        h.join().unwrap();
    }

    let w = strip.lock().unwrap();
    println!("photons {} lost {}", w.photons, w.lost);
    for q in [0.10, 0.25, 0.50, 0.75, 0.90, 0.98] {
        println!("RH{:02.0} {:8.3} m", q * 100.0, percentile(&w, q));
    }
    let peak = w.counts.iter().enumerate().max_by_key(|(_, c)| **c).unwrap();
    println!("peak bin {} count {}", peak.0, peak.1);
}
