"""Symmetric whitening of multi-channel sensor data (magnetometer array).

The inverse square root of the covariance is found with the coupled
Newton-Schulz iteration, which needs matrix products only.
"""
import argparse

import torch


def array_covariance(channels, samples, gen):
    """Covariance of correlated channels: smooth field plus sensor noise."""
    pos = torch.linspace(0.0, 1.0, channels, dtype=torch.float64)
    modes = torch.stack([torch.cos(torch.pi * k * pos) / (1 + k) for k in range(24)])
    sources = torch.randn(samples, 24, dtype=torch.float64, generator=gen)
    data = sources @ modes + 0.3 * torch.randn(samples, channels, dtype=torch.float64, generator=gen)
    data -= data.mean(dim=0, keepdim=True)
    cov = data.T @ data / (samples - 1)
    ridge = 0.05 * cov.diagonal().mean()
    cov.diagonal().add_(ridge)
    return cov


def inverse_sqrt(cov, tol, max_iter):
    """Coupled iteration Y -> A^(1/2), Z -> A^(-1/2) for the scaled matrix."""
    n = cov.shape[0]
    scale = torch.linalg.matrix_norm(cov)
    y = cov / scale
    z = torch.eye(n, dtype=cov.dtype)
    t = torch.empty_like(y)
    y_next = torch.empty_like(y)
    z_next = torch.empty_like(y)
    for it in range(1, max_iter + 1):
        torch.matmul(z, y, out=t)
        off = t.diagonal().sub(1.0).abs().max().item()
        if off < tol:
            break
        t.mul_(-0.5)
        t.diagonal().add_(1.5)
        torch.matmul(y, t, out=y_next)
        torch.matmul(t, z, out=z_next)
        y, y_next = y_next, y
        z, z_next = z_next, z
    return z / scale.sqrt(), it, off


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("channels", type=int, nargs="?", default=1500)
    ap.add_argument("--samples", type=int, default=4000)
    ap.add_argument("--tol", type=float, default=1e-9)
    ap.add_argument("--threads", type=int, default=2)
    opt = ap.parse_args()

    torch.set_num_threads(opt.threads)
    gen = torch.Generator().manual_seed(5)
    cov = array_covariance(opt.channels, opt.samples, gen)
    with torch.inference_mode():
        w, iterations, off = inverse_sqrt(cov, opt.tol, 60)
        check = w @ cov @ w
        check.diagonal().sub_(1.0)
    print(f"channels {opt.channels}, iterations {iterations}")
    print(f"converged {off < opt.tol}, whitening error below 1e-5: {check.abs().max().item() < 1e-5}")
    print(f"trace of transform {w.trace().item():.4f}")


if __name__ == "__main__":
    main()
