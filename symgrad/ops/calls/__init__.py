"""What functions of the table have in common as calls: names, demands on shapes, results of several parts."""
