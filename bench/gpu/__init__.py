"""What scripts/gpu_check does on a machine with a GPU."""
