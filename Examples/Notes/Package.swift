// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Notes",
    dependencies: [.package(name: "Diptych", path: "../..")],
    targets: [
        // The plugin compiles the model and serves @NSManaged; nothing else is set up.
        .target(
            name: "NotesModel",
            dependencies: [.product(name: "CoreData", package: "Diptych")],
            exclude: ["Notes.xcdatamodeld"],
            plugins: [.plugin(name: "CoreDataModels", package: "Diptych")]),
        .executableTarget(
            name: "notes",
            dependencies: ["NotesModel", .product(name: "CoreData", package: "Diptych")]),
        .testTarget(
            name: "NotesTests",
            dependencies: ["NotesModel", .product(name: "CoreData", package: "Diptych")]),
        // Files of many apps, as they are.
        .testTarget(
            name: "SourceTests",
            dependencies: [.product(name: "CoreData", package: "Diptych")],
            exclude: ["README.md"],
            plugins: [.plugin(name: "CoreDataModels", package: "Diptych")]),
    ]
)
