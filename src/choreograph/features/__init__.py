"""What a pose looks like as numbers: how much each joint counts when poses are compared."""
