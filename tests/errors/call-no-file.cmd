tilec check
