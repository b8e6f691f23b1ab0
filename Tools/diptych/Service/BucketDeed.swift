internal import Foundation
internal import RecordService
internal import RecordWire

/// What `diptych service assets` does: lists objects of the bucket that nothing names, or removes
/// them, and lists those that records name and that are not there.
struct BucketDeed {
    private let choice: AssetChoice
    private let isAgreed: Bool

    init(_ arguments: Arguments, folder: URL) throws {
        guard let choice = try AssetChoice(arguments, folder: folder) else {
            throw CommandError(
                "usage", "--assets names no bucket.",
                hint: "Give --assets s3://BUCKET/PREFIX and the rest as serve has it; a folder is "
                    + "looked through by the service itself.", status: .usage)
        }
        self.choice = choice
        isAgreed = arguments.has(SchemaDeed.yes)
    }

    func perform(_ service: ServiceAdministration, _ console: Console) throws {
        if let warning = choice.warning { console.warn(warning) }
        let report = try service.compareObjects(in: choice.place, removes: isAgreed) {
            tell($0, console)
        }
        if console.isJSON { emit(report, console) } else { tell(report, console) }
        guard report.missing == 0 else {
            let lacks = "The bucket lacks \(Figure.count(report.missing, "object")) of records."
            throw CommandError(
                "assetsMissing", lacks,
                hint: "Bring them back under their names, from the bucket's versions, a copy of "
                    + "it, or the folder assets-cache of a service; see docs/SERVICE.md.")
        }
    }

    private func tell(_ finding: ObjectFinding, _ console: Console) {
        switch finding {
        case .orphan(let object) where console.isJSON:
            console.emit([
                "finding": .string("orphan"), "object": .string(object.name),
                "bytes": .integer(object.size),
                "modified": .string(Timestamp.text(object.modified)),
            ])
        case .orphan(let object):
            console.line(
                "\(object.name)  \(Timestamp.short(object.modified))  "
                    + Figure.bytes(object.size))
        case .missing(let object) where console.isJSON:
            console.emit([
                "finding": .string("missing"), "object": .string(object.name),
                "bytes": .integer(object.size),
            ])
        case .missing(let object):
            console.line("\(object.name)  missing  \(Figure.bytes(object.size))")
        }
    }

    private func emit(_ report: ObjectReport, _ console: Console) {
        console.emit([
            "objects": .integer(Int64(report.objects)),
            "orphans": .integer(Int64(report.orphans)), "bytes": .integer(report.bytes),
            "young": .integer(Int64(report.young)),
            "removed": .integer(Int64(report.removed)),
            "missing": .integer(Int64(report.missing)),
        ])
    }

    private func tell(_ report: ObjectReport, _ console: Console) {
        let found = Figure.count(report.orphans, "object")
        var text = "\(found) of \(report.objects) (\(Figure.bytes(report.bytes))) "
        text += "\(report.orphans == 1 ? "is" : "are") named by no record and no upload here"
        if report.young > 0 { text += ", \(report.young) more are younger than a day" }
        if isAgreed {
            text += "; \(report.removed) removed."
        } else if report.orphans > 0 {
            text += "; --yes removes them, also where another service's records name them."
        } else {
            text += "."
        }
        console.line(text)
    }
}
