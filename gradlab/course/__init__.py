"""From lesson sources to notebooks, and the learner's workbook."""
