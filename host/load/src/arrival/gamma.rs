//! Gamma draws for our own arrival process.

use bench_core::random::NumpyGenerator;

/// Gamma with this shape and scale 1. Marsaglia and Tsang, "A simple method for generating gamma
/// variables", ACM TOMS 26 (2000); below shape 1 by their boost `gamma(shape + 1) * u^(1 / shape)`.
/// Shape 1 is the exponential, so that a burstiness of 1 draws what Poisson draws.
pub(super) fn draw(draws: &mut NumpyGenerator, shape: f64) -> f64 {
    if shape == 1.0 {
        return draws.exponential();
    }
    if shape < 1.0 {
        let u = 1.0 - draws.random();
        return draw_above_one(draws, shape + 1.0) * u.powf(1.0 / shape);
    }
    draw_above_one(draws, shape)
}

fn draw_above_one(draws: &mut NumpyGenerator, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(draws);
        let v = (1.0 + c * x).powi(3);
        if v <= 0.0 {
            continue;
        }
        let u = 1.0 - draws.random();
        if u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

/// Standard normal by Marsaglia's polar method; the second of each pair is not kept.
fn normal(draws: &mut NumpyGenerator) -> f64 {
    loop {
        let x = 2.0 * draws.random() - 1.0;
        let y = 2.0 * draws.random() - 1.0;
        let r2 = x * x + y * y;
        if r2 > 0.0 && r2 < 1.0 {
            return x * (-2.0 * r2.ln() / r2).sqrt();
        }
    }
}
