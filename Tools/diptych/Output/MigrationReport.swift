internal import Foundation
internal import ObjectModel
internal import Persistence

/// Tells what a migration would do, and what it did.
struct MigrationReport {
    let path: [ProgressiveMigration.Step]
    let forecast: MigrationForecast?
    let store: URL
    let type: StoreFileKind

    private var bytesFree: Int64? {
        let facts = try? FileManager.default.attributesOfFileSystem(
            forPath: store.deletingLastPathComponent().path)
        return (facts?[.systemFreeSize] as? NSNumber)?.int64Value
    }

    /// What stands in the way, in words.
    private var obstacles: [String] {
        let missing = (forecast?.missingPolicies ?? []).map {
            "the mapping model wants the policy \($0), which is code of a program: migrate there"
        }
        let met = missing + derived
        guard let needed = forecast?.bytesNeeded, let free = bytesFree, free < needed else {
            return met
        }
        return met + [
            "the disk has \(Figure.bytes(free)) free, and \(Figure.bytes(needed)) may be needed"
        ]
    }

    /// What a store that is written whole cannot have, of any version on the way.
    private var derived: [String] {
        guard type != .sqlite else { return [] }
        for entity in path.flatMap(\.to.model.entities) {
            let names = entity.attributesByName.filter {
                $0.value is NSDerivedAttributeDescription
            }
            guard let name = names.keys.min() else { continue }
            return [
                "Core Data provided atomic stores do not support derived properties, and "
                    + "\(entity.name ?? "").\(name) is one; convert it to a SQLite store first"
            ]
        }
        return []
    }

    /// What a mirrored store would not tell its service any more.
    private var warning: String? {
        let count = forecast?.unsentObjects ?? 0
        guard count > 0, path.contains(where: { $0.explanation?.losesValues ?? true }) else {
            return nil
        }
        return "\(Figure.count(count, "object")) of this mirrored store "
            + "\(count == 1 ? "has" : "have") edits that were not sent yet; those of what the "
            + "migration drops will not be. Run 'diptych sync' before."
    }

    // MARK: Before

    /// Shows what would be done.
    func show(_ console: Console) -> ExitStatus {
        if console.isJSON {
            console.emit(json)
        } else if path.isEmpty {
            console.line("The store has that version already; there is nothing to do.")
        } else {
            for (place, step) in path.enumerated() { show(step, place, console) }
            showNeeds(console)
        }
        return obstacles.isEmpty ? .done : .failed
    }

    private func show(
        _ step: ProgressiveMigration.Step, _ place: Int, _ console: Console
    ) {
        console.title("Step \(place + 1) of \(path.count): \(step)")
        guard let explanation = step.explanation else {
            for mapping in step.mappings.flatMap({ $0.entityMappings ?? [] }) {
                let ends = [mapping.sourceEntityName, mapping.destinationEntityName]
                    .map { $0 ?? "nothing" }.joined(separator: " becomes ")
                console.line("  \(mapping.name ?? ""): \(ends)")
            }
            return
        }
        for line in explanation.lines {
            console.line("  \(line)\(line.kind == .removed ? "  LOSES DATA" : "")")
        }
        if explanation.lines.isEmpty { console.line("  no entity or property changes its kind") }
    }

    private func showNeeds(_ console: Console) {
        guard let forecast else { return }
        var table = TextTable()
        for part in forecast.tables where part.rows > 0 {
            table.add(
                part.name, Figure.count(part.rows, "row"),
                part.isRewritten ? "written anew" : "stays in place")
        }
        if !table.isEmpty { console.block(table.text) }
        console.line(
            "\(Figure.count(forecast.rows, "row")) in all; about "
                + "\(Figure.bytes(forecast.bytesNeeded)) of the disk are needed meanwhile"
                + (bytesFree.map { ", \(Figure.bytes($0)) are free." } ?? "."))
        if let warning { console.line(warning) }
        for obstacle in obstacles { console.line("It cannot be done: \(obstacle).") }
    }

    private var json: JSON {
        [
            "dryRun": .bool(true), "store": .string(store.path),
            "steps": .array(path.map(Self.json)), "rows": JSON(forecast?.rows ?? 0),
            "bytesNeeded": JSON(Int(forecast?.bytesNeeded ?? 0)),
            "bytesFree": bytesFree.map { JSON(Int($0)) } ?? .null,
            "unsentObjects": JSON(forecast?.unsentObjects ?? 0),
            "warnings": .array(warning.map { [.string($0)] } ?? []),
            "tables": .array(
                (forecast?.tables ?? []).map {
                    [
                        "name": .string($0.name), "rows": JSON($0.rows),
                        "rewritten": .bool($0.isRewritten),
                    ]
                }), "possible": .bool(obstacles.isEmpty),
            "obstacles": .array(obstacles.map(JSON.string)),
        ]
    }

    private static func json(_ step: ProgressiveMigration.Step) -> JSON {
        let lines = step.explanation?.lines ?? []
        return [
            "from": .string(step.from.name), "to": .string(step.to.name),
            "how": .string(step.mappings.isEmpty ? "inferred" : "mapped"),
            "losesData": .bool(step.explanation?.losesValues ?? false),
            "changes": .array(
                lines.map {
                    [
                        "change": .string($0.kind.rawValue), "entity": .string($0.entity),
                        "property": JSON($0.property), "detail": .string($0.text),
                    ]
                }),
        ]
    }

    /// Tells before a migration begins what it will keep from the service.
    func warn(_ console: Console) {
        if let warning { console.warn(warning) }
    }

    // MARK: After

    /// Tells that nothing was to be done.
    func tellDone(_ console: Console) {
        if console.isJSON {
            console.emit([
                "path": .string(store.path), "steps": JSON(0), "rows": JSON(0),
                "seconds": .double(0), "backup": .null,
            ])
        } else {
            console.note("\(store.path) has that version already.")
        }
    }

    /// Tells what was done, and where the copy of before is.
    func tellDone(_ console: Console, at version: String, seconds: Double, copy: URL?) {
        let rows = forecast?.rows ?? 0
        if console.isJSON {
            console.emit([
                "path": .string(store.path), "from": .string(path[0].from.name),
                "to": .string(version), "steps": JSON(path.count), "rows": JSON(rows),
                "seconds": .double(seconds), "backup": JSON(copy?.path),
            ])
        } else {
            console.note(
                "Migrated \(store.path) to \(version) in \(Figure.count(path.count, "step")): "
                    + "\(Figure.count(rows, "row")), \(Figure.seconds(seconds)).")
            if let copy { console.note("The store as it was is \(copy.path).") }
        }
    }

    /// A failure in words: what the innermost error says, and that nothing is lost.
    static func failure(_ error: NSError, _ store: String) -> CommandError {
        var cause = error
        while let inner = cause.userInfo[NSUnderlyingErrorKey] as? NSError,
            inner.domain == NSCocoaErrorDomain
        {
            cause = inner
        }
        let message = cause.localizedDescription
        let hint =
            switch error.code {
            case NSMigrationMissingMappingModelError, NSInferredMappingModelError:
                "Write a mapping model and name it with --mapping, or go over a version between."
            case NSMigrationMissingSourceModelError:
                "Give the model that the store was written with: --model MODEL."
            default: "The store is whole, and of the version reached. `diptych inspect` shows it."
            }
        return CommandError("coreData\(error.code)", "\(store): \(message)", hint: hint)
    }
}
