tilec --versoin
