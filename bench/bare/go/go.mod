module github.com/hukilau/hukilau/bench/bare/go

go 1.26.0
