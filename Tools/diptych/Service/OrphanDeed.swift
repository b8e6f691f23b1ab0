internal import Foundation
internal import RecordService
internal import RecordWire

/// What `diptych service assets` does: lists objects of the bucket that nothing names, or removes
/// them.
struct OrphanDeed {
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
        let report = try service.lookForOrphans(in: choice.place, removes: isAgreed) { object in
            if console.isJSON {
                console.emit([
                    "object": .string(object.name), "bytes": .integer(object.size),
                    "modified": .string(Timestamp.text(object.modified)),
                ])
            } else {
                console.line(
                    "\(object.name)  \(Timestamp.short(object.modified))  "
                        + Figure.bytes(object.size))
            }
        }
        tell(report, console)
    }

    private func tell(_ report: OrphanReport, _ console: Console) {
        if console.isJSON {
            return console.emit([
                "objects": .integer(Int64(report.objects)),
                "orphans": .integer(Int64(report.orphans)), "bytes": .integer(report.bytes),
                "young": .integer(Int64(report.young)),
                "removed": .integer(Int64(report.removed)),
            ])
        }
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
