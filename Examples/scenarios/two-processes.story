# An app and its extension work on one file; each syncs when it likes.
story Two processes on one store

entity Note: title text, body text
device App
device Widget with the store of App
device Laptop

App inserts Note n with title "Milk"
Widget syncs
App sets n.title to "Milk and bread"
Widget sets n.body to "two bottles"
App and Widget sync
everyone settles
Laptop sets n.title to "Oat milk"
everyone settles

expect n.title is "Oat milk"
expect n.body is "two bottles"
expect nothing was logged
expect everyone agrees
