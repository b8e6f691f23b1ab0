import Foundation

/// Modules import downhill, and each tells its builders what it is.
extension Rule {
    static let modules = [imports, readmes]

    private static let values = ["Platform", "ObjectModel", "Predicates"]
    private static let stores = values + ["Stores", "SQLiteDriver", "SQLiteStore"]

    /// What each module may import of ours. Engine and service meet in RecordWire only.
    static let allowedImports: [String: [String]] = [
        "Platform": [],
        "SQLiteDriver": ["Platform", "CSQLite"],
        "ObjectModel": ["Platform", "COpenSSL", "CRuntime"],
        "Predicates": ["Platform", "ObjectModel", "CRuntime"],
        "Stores": values,
        "SQLiteStore": values + ["Stores", "SQLiteDriver", "CZlib"],
        "Persistence": stores + ["CRuntime"],
        "CoreData": ["ObjectModel", "Predicates", "Persistence"],
        "RecordWire": [],
        "MirrorEngine": stores + ["Persistence", "RecordWire", "COpenSSL"],
        "MirrorTransport": [
            "MirrorEngine", "RecordWire", "Platform", "CCurl", "COpenSSL", "CZlib",
            "CZstd",
        ],
        "CloudKit": values + ["Persistence", "MirrorEngine", "MirrorTransport", "RecordWire"],
        "PostgresDriver": ["CPostgres"],
        "RecordService": [
            "RecordWire", "Platform", "SQLiteDriver", "PostgresDriver", "COpenSSL",
        ],
        "RecordServer": [
            "RecordService", "RecordWire", "Platform", "CMicroHTTPD", "COpenSSL", "CZlib",
            "CZstd",
        ],
        "ObjectStorage": ["RecordService", "Platform", "CCurl", "COpenSSL"],
        "ServiceConsole": ["RecordServer", "RecordService", "RecordWire", "Platform"],
        "MirrorTesting": ["MirrorTestKit", "MirrorEngine", "ObjectModel"],
        "MirrorTestKit": stores + ["Persistence", "RecordWire", "MirrorEngine", "RecordService"],
    ]

    static let imports = Rule(
        text:
            "Modules import only what stands above them in ARCHITECTURE.md; move the code instead."
    ) { files in
        guard
            let pattern = try? Pattern(
                Pattern.modifiers
                    + #"import\s+(?:class |struct |enum |protocol |func |var |typealias )?(\w+)"#)
        else { return [] }
        let ours = Set(allowedImports.keys).union(allowedImports.values.joined())
        return files.filter(isOfAModule).flatMap { file -> [Finding] in
            guard let module = file.module else { return [] }
            guard let allowed = allowedImports[module] else {
                return [Finding(path: file.path, line: 0, what: "\(module) has no row of imports")]
            }
            return file.code.enumerated().compactMap { index, line in
                guard let name = pattern.groups(in: line)?[1], ours.contains(name),
                    name != module, !allowed.contains(name)
                else { return nil }
                return Finding(
                    path: file.path, line: index + 1, what: "\(module) imports \(name)")
            }
        }
    }

    static let readmes = Rule(
        text: "Each module has a README.md of at most 60 lines: purpose, words, invariants, files."
    ) { files in
        let homes = Set(
            files.filter(isOfAModule).map { $0.folders.prefix(2).joined(separator: "/") })
        return homes.sorted().compactMap { home in
            guard let readme = files.first(where: { $0.path == home + "/README.md" }) else {
                return Finding(path: home, line: 0, what: "no README.md")
            }
            guard readme.lines.count > 60 else { return nil }
            return Finding(path: readme.path, line: 61, what: "\(readme.lines.count) lines")
        }
    }

    private static func isOfAModule(_ file: SourceFile) -> Bool {
        file.isSwift && ["Sources", "Mirror"].contains(file.area) && file.module != "Systems"
    }
}
