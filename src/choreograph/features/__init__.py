"""What a frame or a window looks like as numbers: frame tables, points, root tracks, weights of joints, pose space."""
