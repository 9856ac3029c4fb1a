"""grade() and prevalence() of labels that stay on disk: the same link, fed with sums over shards."""
