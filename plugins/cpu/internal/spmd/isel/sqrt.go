package isel
