//! Azimuth smoothing and ground-velocity screening of a multilooked radar
//! amplitude scene. Lines are azimuth (flight direction), pixels are range.
//!
//! usage: main LINES PIXELS PASSES

use std::env;
use std::process;

type Scene = Vec<Vec<f64>>;

struct Settings {
    lines: usize,
    pixels: usize,
    passes: usize,
}

fn parse_settings() -> Settings {
    let v: Vec<usize> = env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    if v.len() != 3 {
        eprintln!("usage: main LINES PIXELS PASSES");
        process::exit(2);
    }
    Settings { lines: v[0], pixels: v[1], passes: v[2] }
}

/// Speckled scene with a bright diagonal ridge and two ships.
fn synthesise(lines: usize, pixels: usize) -> Scene {
    let mut state: u32 = 0x1234_5678;
    (0..lines)
        .map(|l| {
            (0..pixels)
                .map(|p| {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    let speckle = 0.4 + 1.2 * (state >> 8) as f64 / (1u32 << 24) as f64;
                    let d = l as f64 - 0.6 * p as f64 - 300.0;
                    let ridge = 3.0 / (1.0 + 0.002 * d * d);
                    let ship = if (l % 1900 < 6) && (p % 1300 < 14) { 9.0 } else { 0.0 };
                    speckle * (0.5 + ridge) + ship
                })
                .collect()
        })
        .collect()
}

/// Forward and backward first-order recursion along azimuth.
fn smooth_azimuth(scene: &mut Scene, pixels: usize, alpha: f64) {
    let lines = scene.len();
    let beta = 1.0 - alpha;
    for p in 0..pixels {
        let mut state = scene[0][p];
        for l in 0..lines {
            state = alpha * state + beta * scene[l][p];
            scene[l][p] = state;
        }
        for l in (0..lines).rev() {
            state = alpha * state + beta * scene[l][p];
            scene[l][p] = state;
        }
    }
}

/// Gain along range, so that far pixels are not darkened by the passes.
fn equalise_range(scene: &mut Scene, pixels: usize) {
    let gain: Vec<f64> = (0..pixels).map(|p| 1.0 + 0.02 * p as f64 / pixels as f64).collect();
    for line in scene.iter_mut() {
        for (a, g) in line.iter_mut().zip(&gain) {
            *a *= g;
        }
    }
}

struct Summary {
    mean: f64,
    peak: f64,
    at: (usize, usize),
    bright: usize,
}

fn summarise(scene: &Scene, threshold: f64) -> Summary {
    let mut s = Summary { mean: 0.0, peak: f64::MIN, at: (0, 0), bright: 0 };
    let mut n = 0usize;
    for (l, line) in scene.iter().enumerate() {
        for (p, &a) in line.iter().enumerate() {
            s.mean += a;
            n += 1;
            if a > threshold {
                s.bright += 1;
            }
            if a > s.peak {
                s.peak = a;
                s.at = (l, p);
            }
        }
    }
    s.mean /= n as f64;
    s
}

fn main() {
    let cfg = parse_settings();
    let mut scene = synthesise(cfg.lines, cfg.pixels);

    let before = summarise(&scene, 4.0);
    println!("raw      mean {:.6} peak {:.6} bright {}", before.mean, before.peak, before.bright);

    for pass in 0..cfg.passes {
        let alpha = 0.55 + 0.05 * pass as f64 / cfg.passes as f64;
        smooth_azimuth(&mut scene, cfg.pixels, alpha);
        equalise_range(&mut scene, cfg.pixels);
    }

    let after = summarise(&scene, 2.0);
    println!(
        "smoothed mean {:.6} peak {:.6} at {:?} bright {}",
        after.mean, after.peak, after.at, after.bright
    );
}
