// swift-tools-version: 6.2
import PackageDescription

/// The house settings: every target of ours is built by the same rules.
let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A module at `folder/name` that may import only what `uses` names.
func room(
    _ name: String, in folder: String = "Sources", uses: [String] = [], resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: uses.map { .byName(name: $0) }, path: "\(folder)/\(name)",
        exclude: ["README.md"], resources: resources, swiftSettings: house)
}

/// A C library of the distribution, found through pkg-config.
func system(_ name: String, pkgConfig: String, apt package: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Systems/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([package])])
}

/// A command at `path`.
func tool(_ name: String, at path: String, uses: [String]) -> Target {
    .executableTarget(
        name: name, dependencies: uses.map { .byName(name: $0) }, path: path,
        exclude: ["README.md"], swiftSettings: house)
}

/// The tests of a module. `DIPTYCH_TESTS=A,B` builds only the named test targets. A release build
/// optimizes what they test and not themselves, which would take longer than it spares.
func tests(_ name: String, uses: [String], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: uses.map { .byName(name: $0) }, path: "Tests/\(name)",
        resources: resources,
        swiftSettings: house + [
            .unsafeFlags(
                ["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))
        ])
}

let values = ["Platform", "ObjectModel", "Predicates"]
let stores = values + ["Stores", "SQLiteDriver", "SQLiteStore"]

let systems: [Target] = [
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
    system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    system("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev"),
    system("CPostgres", pkgConfig: "libpq", apt: "libpq-dev"),
    .systemLibrary(name: "CRuntime", path: "Sources/Systems/CRuntime"),
]

let oneMachine: [Target] = [
    room("Platform"),
    room("SQLiteDriver", uses: ["Platform", "CSQLite"]),
    room("ObjectModel", uses: ["Platform", "COpenSSL", "CRuntime"]),
    room("Predicates", uses: ["Platform", "ObjectModel", "CRuntime"]),
    room("Stores", uses: values),
    room("SQLiteStore", uses: values + ["Stores", "SQLiteDriver", "CZlib"]),
    room("Persistence", uses: stores + ["CRuntime"]),
    room("CoreData", uses: ["ObjectModel", "Predicates", "Persistence"]),
]

let twoMachines: [Target] = [
    room("RecordWire", in: "Mirror"),
    room("MirrorEngine", in: "Mirror", uses: stores + ["Persistence", "RecordWire", "COpenSSL"]),
    room(
        "MirrorTransport", in: "Mirror",
        uses: ["MirrorEngine", "RecordWire", "Platform", "CCurl", "COpenSSL", "CZlib", "CZstd"]),
    room(
        "CloudKit", in: "Mirror",
        uses: [
            "MirrorEngine", "MirrorTransport", "RecordWire", "Persistence", "ObjectModel",
            "Predicates", "Platform",
        ]),
    room("PostgresDriver", in: "Mirror", uses: ["CPostgres"]),
    room(
        "RecordService", in: "Mirror",
        uses: ["RecordWire", "Platform", "SQLiteDriver", "PostgresDriver", "COpenSSL"]),
    room(
        "RecordServer", in: "Mirror",
        uses: [
            "RecordService", "RecordWire", "Platform", "CMicroHTTPD", "COpenSSL", "CZlib", "CZstd",
        ]),
    room(
        "ObjectStorage", in: "Mirror", uses: ["RecordService", "Platform", "CCurl", "COpenSSL"]),
    room(
        "ServiceConsole", in: "Mirror",
        uses: ["RecordServer", "RecordService", "RecordWire", "Platform"],
        resources: [.embedInCode("Site")]),
    room(
        "MirrorTestKit", in: "Mirror",
        uses: stores + ["Persistence", "RecordWire", "MirrorEngine", "RecordService"]),
]

/// What tests alone may link: Swift Testing is no part of a program.
let testing = room(
    "MirrorTesting", in: "Mirror", uses: ["MirrorTestKit", "MirrorEngine", "ObjectModel"])

let everything =
    stores + [
        "Persistence", "MirrorEngine", "MirrorTransport", "RecordWire", "RecordService",
        "RecordServer", "ServiceConsole", "ObjectStorage",
    ]

let tools: [Target] = [
    .plugin(
        name: "CoreDataModels", capability: .buildTool(), dependencies: ["diptych-modelc"],
        path: "Tools/Plugins/CoreDataModels"),
    tool("diptych", at: "Tools/diptych", uses: everything + ["MirrorTestKit"]),
    tool(
        "diptych-bench", at: "Tools/Benchmarks",
        uses: everything + ["CSQLite", "PostgresDriver", "PostgresTesting"]),
    .target(
        name: "ModelCompiler", dependencies: ["ObjectModel", "Predicates"],
        path: "Tools/ModelCompiler", exclude: ["README.md", "Command"], swiftSettings: house),
    .executableTarget(
        name: "diptych-modelc", dependencies: ["ModelCompiler"],
        path: "Tools/ModelCompiler/Command", swiftSettings: house),
]

/// What the fuzzer and the replay of its findings feed with bytes; and the fuzzer itself, which
/// only `Tools/fuzz` builds, since its runtime comes with a switch of the compiler.
let fuzzing: [Target] =
    [
        .target(
            name: "FuzzTargets",
            dependencies: (stores + [
                "RecordWire", "RecordService", "RecordServer", "ObjectStorage",
            ]).map { .byName(name: $0) },
            path: "Tools/Fuzzing/Targets", swiftSettings: house)
    ]
    + (Context.environment["DIPTYCH_FUZZ"] == nil
        ? []
        : [
            .systemLibrary(name: "CFuzzer", path: "Tools/Fuzzing/CFuzzer"),
            .executableTarget(
                name: "diptych-fuzz", dependencies: ["FuzzTargets", "CFuzzer"],
                path: "Tools/Fuzzing/Driver", swiftSettings: house),
        ])

/// A database server for tests.
let postgresTesting = Target.target(
    name: "PostgresTesting", path: "Tests/Support/PostgresTesting", swiftSettings: house)

/// Programs that tests start.
let childProcesses = Target.target(
    name: "ChildProcesses", path: "Tests/Support/ChildProcesses", swiftSettings: house)

/// Files of SQLite that fail, for tests.
let faultFiles = Target.target(
    name: "FaultFiles", dependencies: ["CSQLite"], path: "Tests/Support/FaultFiles",
    swiftSettings: house)

/// Keys that sign what a service is to verify.
let keyTesting = Target.target(
    name: "KeyTesting", dependencies: ["COpenSSL"], path: "Tests/Support/KeyTesting",
    swiftSettings: house)

let testTargets: [Target] = [
    postgresTesting,
    childProcesses,
    keyTesting,
    faultFiles,
    tests("PlatformTests", uses: ["Platform"]),
    tests("SQLiteDriverTests", uses: ["SQLiteDriver", "Platform"]),
    tests("PersistenceTests", uses: stores + ["Persistence", "CoreData", "CSQLite", "FaultFiles"]),
    tests("StoresTests", uses: values + ["Stores"]),
    tests("SQLiteStoreTests", uses: stores),
    tests(
        "RecordServerTests",
        uses: [
            "RecordServer", "RecordService", "RecordWire", "MirrorTransport", "Platform", "CZlib",
            "ObjectStorage", "KeyTesting", "CZstd",
        ]),
    tests(
        "MirrorTransportTests",
        uses: [
            "MirrorTransport", "MirrorEngine", "MirrorTestKit", "RecordServer", "RecordService",
            "RecordWire", "SQLiteStore", "Stores", "Platform", "ObjectModel",
        ]),
    tests("RecordWireTests", uses: ["RecordWire"]),
    tests(
        "ServiceConsoleTests",
        uses: [
            "ServiceConsole", "RecordServer", "RecordService", "RecordWire", "Platform",
            "SQLiteDriver", "MirrorTransport", "KeyTesting", "PostgresTesting",
        ]),
    tests(
        "CloudKitTests",
        uses: [
            "CloudKit", "CoreData", "MirrorEngine", "MirrorTransport", "RecordServer",
            "RecordService", "RecordWire", "Platform",
        ]),
    tests("PredicatesTests", uses: ["Predicates", "ObjectModel", "Platform"]),
    tests("RealFilesTests", uses: stores + ["Persistence"]),
    tests("HouseRules", uses: []),
    tests(
        "FuzzTests", uses: stores + ["FuzzTargets", "RecordWire", "CZlib"],
        resources: [.copy("Seeds")]),
    tests(
        "MirrorEngineTests",
        uses: [
            "MirrorEngine", "MirrorTestKit", "RecordService", "RecordWire", "ObjectModel", "Stores",
            "SQLiteStore", "SQLiteDriver", "Platform", "Persistence", "Predicates",
        ]),
    tests(
        "Simulation", uses: ["MirrorTestKit", "MirrorEngine", "RecordWire", "Platform"],
        resources: [.copy("Seeds.txt")]),
    tests(
        "CorpusTests",
        uses: [
            "MirrorTestKit", "MirrorEngine", "RecordWire", "ObjectModel", "Stores", "SQLiteStore",
            "SQLiteDriver", "Platform",
        ]),
    tests(
        "RecordServiceTests",
        uses: [
            "RecordService", "RecordWire", "Platform", "SQLiteDriver", "PostgresDriver",
            "PostgresTesting", "KeyTesting", "FaultFiles",
        ]),
    tests("ObjectModelTests", uses: ["ObjectModel", "Predicates", "SQLiteDriver", "CZlib"]),
    tests("CommandTests", uses: ["diptych", "SQLiteDriver", "PostgresTesting", "ChildProcesses"]),
    tests(
        "MirrorTestKitTests",
        uses: [
            "MirrorTestKit", "MirrorTesting", "MirrorEngine", "CoreData", "RecordWire",
        ]),
    tests(
        "DocumentationTests",
        uses: [
            "diptych", "CoreData", "CloudKit", "MirrorEngine", "MirrorTransport", "MirrorTestKit",
            "MirrorTesting", "RecordWire",
            "RecordServer", "RecordService", "Platform", "ChildProcesses",
        ], resources: [.copy("Compatibility/AppleSymbols.tsv")]),
    tests("ModelCompilerTests", uses: ["ModelCompiler", "ObjectModel", "ChildProcesses"]),
]

let chosenTests = Context.environment["DIPTYCH_TESTS"]?.split(separator: ",").map(String.init)

let package = Package(
    name: "Diptych",
    products: [
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "Mirror", targets: ["MirrorEngine", "MirrorTransport", "CloudKit"]),
        .library(name: "MirrorTestKit", targets: ["MirrorTestKit"]),
        .library(name: "MirrorTesting", targets: ["MirrorTesting"]),
        .plugin(name: "CoreDataModels", targets: ["CoreDataModels"]),
    ],
    targets: systems + oneMachine + twoMachines + [testing] + tools + fuzzing
        + testTargets.filter { !$0.isTest || chosenTests?.contains($0.name) ?? true },
    swiftLanguageModes: [.v6]
)
