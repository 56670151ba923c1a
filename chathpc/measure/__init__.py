"""Running a program under the best profiler that is there."""
