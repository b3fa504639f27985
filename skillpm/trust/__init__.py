"""What a user trusts: reviews, signatures and policy, bound to digests."""
