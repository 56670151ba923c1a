"""GPU kernels by themselves: harnesses made from a profile's launch facts and the source, judged on the device."""
