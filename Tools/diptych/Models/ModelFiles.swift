internal import Foundation
internal import ObjectModel
internal import Predicates

/// Model files of each kind, read with all their versions and written.
struct ModelFiles {
    /// By name; a model that is no bundle has one version.
    let versions: [String: NSManagedObjectModel]
    let current: String

    /// Reads every version in `file`, or the one called `version`.
    init(reading file: URL, version: String?) throws {
        let name = file.deletingPathExtension().lastPathComponent
        guard version == nil, FileKind(of: file) == .folder,
            let bundle = try? VersionBundle(at: file)
        else {
            let chosen = version ?? name
            versions = [chosen: try ModelSource.read(file, version: version)]
            current = chosen
            return
        }
        let pairs = try bundle.versions.map {
            ($0, try ModelSource.read(file, version: $0))
        }
        versions = Dictionary(pairs) { first, _ in first }
        current = bundle.currentVersion ?? bundle.versions.last ?? name
    }

    /// Writes what the name of `output` asks for. Returns the versions it holds.
    func write(to output: URL) throws -> [String] {
        switch output.pathExtension {
        case "xcdatamodel": try model(for: output).writeSource(to: output)
        case "mom": try model(for: output).compiledData().write(to: output, options: .atomic)
        case "momd":
            try NSManagedObjectModel.writeCompiledBundle(versions, current: current, to: output)
            return versions.keys.sorted()
        case "xcdatamodeld":
            try writeSources(to: output)
            return versions.keys.sorted()
        default:
            throw CommandError(
                "usage", "It is not clear what \(output.path) shall be.",
                hint: "End its name in .xcdatamodel, .xcdatamodeld, .mom or .momd.",
                status: .usage)
        }
        return [current]
    }

    /// What the file just written at `output` does not say any more.
    func losses(in output: URL) throws -> [String] {
        let isBundle = ["momd", "xcdatamodeld"].contains(output.pathExtension)
        return try versions.sorted { $0.key < $1.key }.flatMap { name, model -> [String] in
            guard isBundle || name == current else { return [] }
            let again = try ModelSource.read(output, version: isBundle ? name : nil)
            let notes = ConversionLoss(of: model, writtenAs: again).notes
            return notes.map { versions.count > 1 ? "\(name): \($0)" : $0 }
        }
    }

    /// The predicates that only Diptych reads in a compiled model.
    var unarchivable: [String] {
        var found: [String] = []
        for (name, model) in versions.sorted(by: { $0.key < $1.key }) {
            found += ConversionLoss.unarchivable(in: model)
                .map { versions.count > 1 ? "\(name): \($0)" : $0 }
        }
        return found
    }

    private func model(for output: URL) throws -> NSManagedObjectModel {
        guard let model = versions[current] else {
            throw CommandError(
                "missingVersion", "The model has no version '\(current)'.",
                hint: "Choose one with --version.")
        }
        return model
    }

    private func writeSources(to output: URL) throws {
        for (name, model) in versions.sorted(by: { $0.key < $1.key }) {
            try model.writeSource(to: output.appendingPathComponent("\(name).xcdatamodel"))
        }
        let mark = try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "\(current).xcdatamodel"], format: .xml,
            options: 0)
        try mark.write(to: output.appendingPathComponent(".xccurrentversion"))
    }
}
