"""What theory says of controllers and queues, and what comes out here."""
