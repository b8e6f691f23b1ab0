internal import Foundation
internal import ObjectModel
internal import RecordWire

/// `diptych model`: facts of models, and work on their files.
struct ModelVerb: Verb {
    private static let version = Option("version", "NAME", "this version of a bundle's")
    private static let trial = Option("dry-run", nil, "port: say what would change, write nothing")

    static let manual = Manual(
        name: "model", summary: "Describes, compares, checks and converts models.",
        operands: ["WORK", "MODEL"], optionalOperands: ["OTHER"],
        works: Work.allCases.map(\.rawValue), options: [version, trial],
        readsSettingsBesideStore: false,
        notes: [
            """
            WORK is one of
              describe MODEL         entities, properties and their facts
              hash MODEL             version hashes, as stores keep them
              check MODEL            contradictions, what stores refuse, and who can mirror it
              schema MODEL           the record types and fields that a service needs for it, as the
                                     text of a .ckdb file
              diff MODEL NEWER       what changed, and whether lightweight migration can follow
              convert MODEL OUT      into .xcdatamodel, .xcdatamodeld, .mom or .momd, by OUT's name
              generate MODEL FOLDER  the Swift classes that the model asks for
              port PATH              rewrite Swift sources written for Apple's platforms: @objc,
                                     #keyPath, selectors of sort descriptors, casts of requests

            MODEL is an .xcdatamodel(d), a .mom(d), or a SQLite store, which keeps a copy of its
            model.
            """,
            HelpText.wrapped(
                "Exit status 1: check found a contradiction, or what stores refuse or Diptych "
                    + "cannot mirror; or diff found what no lightweight migration does."),
        ],
        examples: [
            ("diptych model describe Library.xcdatamodel", "what is in a model"),
            (
                "diptych model schema Library.xcdatamodeld > Library.ckdb",
                "then diptych service schema --container ID --import Library.ckdb"
            ),
            ("diptych model diff Library.sqlite Library.xcdatamodeld", "will my store migrate?"),
            ("diptych model convert Library.xcdatamodeld Library.momd", "compile"),
            ("diptych model port Sources --dry-run", "what porting an app would change"),
        ])

    private enum Work: String, CaseIterable {
        case describe, hash, check, schema, diff, convert, generate, port

        /// What the last word is; nil where there is none.
        var other: String? {
            switch self {
            case .describe, .hash, .check, .schema, .port: nil
            case .diff: "NEWER"
            case .convert: "OUT"
            case .generate: "FOLDER"
            }
        }
    }

    private let work: Work
    private let file: URL
    private let other: URL?
    private let version: String?
    private let isTrial: Bool

    init(_ arguments: Arguments) throws {
        work = try arguments.work(Work.self)
        file = URL(fileURLWithPath: arguments.operand(1)).absoluteURL
        let last = arguments.operand(2)
        other = last.isEmpty ? nil : URL(fileURLWithPath: last).absoluteURL
        version = arguments.value(Self.version)
        isTrial = arguments.has(Self.trial)
        guard !isTrial || work == .port else {
            throw CommandError(
                "usage", "--dry-run belongs to port.", hint: "Leave it out.", status: .usage)
        }
        guard (other == nil) == (work.other == nil) else {
            throw CommandError(
                "usage",
                other == nil
                    ? "\(work.other ?? "") is missing." : "'\(last)' is one word too many.",
                hint: "Write diptych model \(work.rawValue) MODEL"
                    + (work.other.map { " \($0)." } ?? "."),
                status: .usage)
        }
    }

    func run(_ console: Console) async throws -> ExitStatus {
        switch (work, other) {
        case (.describe, _):
            let facts = ModelFacts(model: try model())
            if console.isJSON { console.emit(facts.json) } else { console.block(facts.text) }
        case (.hash, _): try printHashes(console)
        case (.check, _): return try check(console)
        case (.schema, _): try printSchema(console)
        case (.port, _): try SourcePortReport(SourceFolder(at: file), isTrial: isTrial).run(console)
        case (.diff, let other?): return try compare(other, console)
        case (.convert, let other?): try convert(to: other, console)
        case (.generate, let other?): try generate(into: other, console)
        default: break
        }
        return .done
    }

    private func model() throws -> NSManagedObjectModel {
        try ModelSource.load(file, version: version)
    }

    // MARK: Facts

    private func printHashes(_ console: Console) throws {
        let model = try model()
        let hashes = model.entityVersionHashesByName.sorted { $0.key < $1.key }
        guard !console.isJSON else {
            return console.emit([
                "entities": .object(hashes.map { ($0.key, .string(ModelFacts.hex($0.value))) }),
                "digest": .string(model.versionHashesDigest),
                "checksum": .string(model.versionChecksum),
            ])
        }
        var table = TextTable()
        for (name, hash) in hashes { table.add(name, ModelFacts.hex(hash)) }
        console.block(table.text)
        console.line("digest    \(model.versionHashesDigest)")
        console.line("checksum  \(model.versionChecksum)")
    }

    /// To a file it goes by the shell; `diptych service schema --import` takes it.
    private func printSchema(_ console: Console) throws {
        let text = try ModelSchema(try model()).schema.text
        if console.isJSON {
            console.emit(["schema": .string(text)])
        } else {
            console.block(text)
        }
    }

    private func check(_ console: Console) throws -> ExitStatus {
        let check = ModelCheck(try ModelSource.read(file, version: version))
        if console.isJSON {
            console.emit([
                "ok": .bool(check.problems.isEmpty),
                "problems": .array(check.problems.map(\.json)),
                "notes": .array(check.readings.map(\.json)),
                "store": [
                    "ok": .bool(check.refusals.isEmpty),
                    "reasons": .array(check.refusals.map(\.json)),
                    "notes": .array(check.storeNotes.map(\.json)),
                ],
                "mirror": [
                    "ok": .bool(check.mirror.isEmpty), "reasons": .array(check.mirror.map(\.json)),
                ],
                "cloudKit": [
                    "ok": .bool(check.cloudKit.isEmpty),
                    "reasons": .array(check.cloudKit.map(\.json)),
                ],
            ])
        } else {
            console.block(
                check.problems.isEmpty
                    ? "The model is consistent."
                    : text("The model contradicts itself", check.problems))
            if !check.readings.isEmpty {
                console.block(text("Read as Apple's compiler reads it", check.readings))
            }
            console.block(
                !check.refusals.isEmpty
                    ? text("No SQLite store can be made for it", check.refusals)
                    : check.storeNotes.isEmpty
                        ? "A SQLite store keeps it as it is."
                        : text("A SQLite store keeps it, but", check.storeNotes))
            console.block(
                check.mirror.isEmpty
                    ? "Diptych can mirror it." : text("Diptych cannot mirror it", check.mirror))
            console.block(
                check.cloudKit.isEmpty
                    ? "Apple's NSPersistentCloudKitContainer takes it."
                    : text("Apple's NSPersistentCloudKitContainer refuses it", check.cloudKit))
        }
        return check.mirror.isEmpty && check.refusals.isEmpty ? .done : .failed
    }

    private func text(_ title: String, _ findings: [ModelCheck.Finding]) -> String {
        let lines = findings.map { finding -> String in
            let place = [finding.entity, finding.property].compactMap { $0 }
                .joined(separator: ".")
            let saysPlace = place.isEmpty || finding.message.contains("“\(place)”")
            return "  \(saysPlace ? "" : place + " ")\(finding.message)"
        }
        return ([title + ":"] + lines).joined(separator: "\n")
    }

    // MARK: Two versions

    private func compare(_ newer: URL, _ console: Console) throws -> ExitStatus {
        let difference = ModelDifference(from: try model(), to: try ModelSource.load(newer))
        if console.isJSON {
            console.emit([
                "needsMigration": .bool(difference.needsMigration),
                "lightweight": .bool(difference.isLightweight),
                "changes": .array(difference.changes.map(\.json)),
            ])
        } else {
            show(difference, console)
        }
        return difference.isLightweight ? .done : .failed
    }

    private func show(_ difference: ModelDifference, _ console: Console) {
        var table = TextTable()
        for change in difference.changes {
            let place = change.entity + (change.property.map { ".\($0)" } ?? "")
            let mark =
                switch change.effect {
                case .none: "no migration"
                case .lightweight: "lightweight"
                case .losesData: "LOSES DATA"
                case .impossible: "IMPOSSIBLE"
                }
            table.add(place, mark, change.detail + (change.advice.map { ". \($0)" } ?? ""))
        }
        if !table.isEmpty { console.block(table.text) }
        let isLossless = !difference.changes.contains { $0.effect == .losesData }
        console.line(
            !difference.isLightweight
                ? "Lightweight migration cannot do this."
                : !difference.needsMigration
                    ? "Stores of the one fit the other; no migration is needed."
                    : "Lightweight migration can do this\(isLossless ? "." : ", and loses data.")")
    }

    // MARK: Files

    private func convert(to output: URL, _ console: Console) throws {
        try requireAbsent(output)
        // A source model is a folder, made with those above it.
        if output.pathExtension.hasPrefix("mom") { try ParentFolder.require(of: output) }
        let files = try ModelFiles(reading: file, version: version)
        let versions = try NewFile.make(output) { try files.write(to: output) }
        let lost = try files.losses(in: output)
        let hidden = output.pathExtension.hasPrefix("mom") ? files.unarchivable : []
        if console.isJSON {
            return console.emit([
                "path": .string(output.path), "versions": .array(versions.map(JSON.string)),
                "lost": .array(lost.map(JSON.string)),
                "hiddenFromApple": .array(hidden.map(JSON.string)),
            ])
        }
        console.note("Made \(output.path) with \(Figure.count(versions.count, "version")).")
        list("Such a file cannot hold", lost, console)
        list(
            "Apple's frameworks will see no predicate, as its archived form is not known", hidden,
            console)
    }

    private func list(_ title: String, _ lines: [String], _ console: Console) {
        guard !lines.isEmpty else { return }
        console.block(([title + ":"] + lines.map { "  \($0)" }).joined(separator: "\n"))
    }

    private func requireAbsent(_ output: URL) throws {
        guard FileKind(of: output) == .absent else {
            throw CommandError(
                "exists", "\(output.path) is there already.",
                hint: "Choose another name, or remove it first.")
        }
    }

    /// Files of the same names are replaced: they are generated, too.
    private func generate(into folder: URL, _ console: Console) throws {
        let sources = try ClassGeneration(model: model()).sources()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for source in sources {
            try Data(source.text.utf8).write(
                to: folder.appendingPathComponent(source.fileName), options: .atomic)
        }
        if console.isJSON {
            console.emit([
                "folder": .string(folder.path),
                "files": .array(sources.map { .string($0.fileName) }),
            ])
        } else {
            for source in sources { console.line(source.fileName) }
            if sources.isEmpty {
                console.line("No entity asks for a class; set its code generation in the model.")
            }
        }
    }
}
