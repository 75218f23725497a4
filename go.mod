module github.com/hukilau/hukilau

go 1.26
