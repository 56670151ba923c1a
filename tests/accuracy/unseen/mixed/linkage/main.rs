// Pairwise linkage disequilibrium (r^2) between phased markers.
// Haplotypes are bit-packed, 64 chromosomes to a word; the joint allele
// count of two markers is the population count of their AND.

use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const TILE: usize = 32;
const NCLASS: usize = 10;

struct Panel {
    words: usize,
    markers: usize,
    bits: Vec<u64>,
    freq: Vec<f64>,
}

impl Panel {
    fn row(&self, m: usize) -> &[u64] {
        &self.bits[m * self.words..(m + 1) * self.words]
    }
}

fn simulate(markers: usize, words: usize) -> Panel {
    let mut s: u64 = 88172645463325252;
    let mut draw = move || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s
    };
    let mut bits: Vec<u64> = Vec::with_capacity(markers * words);
    for m in 0..markers {
        for w in 0..words {
            let fresh = draw() & draw();
            // neighbouring markers share most of their ancestry
            let keep = draw() | draw() | draw();
            let word = if m == 0 { fresh } else { (bits[(m - 1) * words + w] & keep) | (fresh & !keep) };
            bits.push(word);
        }
    }
    let n = (64 * words) as f64;
    let freq = (0..markers)
        .map(|m| {
            let c: u32 = bits[m * words..(m + 1) * words].iter().map(|w| w.count_ones()).sum();
            c as f64 / n
        })
        .collect();
    Panel { words, markers, bits, freq }
}

/// Joint counts of one marker with four others.
fn joint4(a: &[u64], b: [&[u64]; 4]) -> [u64; 4] {
    let n = a.len();
    let (b0, b1, b2, b3) = (&b[0][..n], &b[1][..n], &b[2][..n], &b[3][..n]);
    let mut c = [0u64; 4];
    for k in 0..n {
        let w = a[k];
        c[0] += (w & b0[k]).count_ones() as u64;
        c[1] += (w & b1[k]).count_ones() as u64;
        c[2] += (w & b2[k]).count_ones() as u64;
        c[3] += (w & b3[k]).count_ones() as u64;
    }
    c
}

struct Tally {
    classes: [u64; NCLASS],
    sum: f64,
}

impl Tally {
    fn add(&mut self, pa: f64, pb: f64, joint: f64) {
        let d = joint - pa * pb;
        let v = pa * (1.0 - pa) * pb * (1.0 - pb);
        let r2 = if v > 0.0 { d * d / v } else { 0.0 };
        let c = ((r2 * NCLASS as f64) as usize).min(NCLASS - 1);
        self.classes[c] += 1;
        self.sum += r2;
    }
}

fn tile_pair(panel: &Panel, ti: usize, tj: usize, tally: &mut Tally) {
    let n = (64 * panel.words) as f64;
    for j in (tj * TILE..(tj + 1) * TILE).step_by(4) {
        let b = [panel.row(j), panel.row(j + 1), panel.row(j + 2), panel.row(j + 3)];
        for i in ti * TILE..(ti + 1) * TILE {
            let c = joint4(panel.row(i), b);
            for q in 0..4 {
                if j + q > i {
                    tally.add(panel.freq[i], panel.freq[j + q], c[q] as f64 / n);
                }
            }
        }
    }
}

fn main() {
    let args: Vec<usize> = env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let markers = args.first().copied().unwrap_or(8192) / TILE * TILE;
    let words = args.get(1).copied().unwrap_or(64);
    let nthreads = args.get(2).copied().unwrap_or(2);

    let panel = simulate(markers, words);
    let tiles = panel.markers / TILE;
    let tasks: Vec<(usize, usize)> = (0..tiles).flat_map(|i| (i..tiles).map(move |j| (i, j))).collect();
    let next = AtomicUsize::new(0);
    const GRAB: usize = 64;

    let partial: Vec<Tally> = thread::scope(|s| {
        let handles: Vec<_> = (0..nthreads)
            .map(|_| {
                s.spawn(|| {
                    let mut t = Tally { classes: [0; NCLASS], sum: 0.0 };
                    loop {
                        let k = next.fetch_add(GRAB, Ordering::Relaxed);
                        if k >= tasks.len() {
                            break t;
                        }
                        for &(i, j) in &tasks[k..(k + GRAB).min(tasks.len())] {
                            tile_pair(&panel, i, j, &mut t);
                        }
                    }
                })
            })
            .collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });

    let mut total = 0u64;
    for c in 0..NCLASS {
        let k: u64 = partial.iter().map(|t| t.classes[c]).sum();
        total += k;
        println!("r2 >= {:.1}: {}", c as f64 / NCLASS as f64, k);
    }
    let sum: f64 = partial.iter().map(|t| t.sum).sum();
    println!("pairs {} mean r2 {:.6}", total, sum / total as f64);
}
