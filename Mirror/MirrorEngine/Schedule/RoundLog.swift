internal import Foundation
internal import Platform
internal import RecordWire

/// What rounds do, as lines on standard error: `com.apple.CoreData.CloudKitDebug` set to 1 tells of
/// rounds, to 2 of requests too, to 3 of each step. A line is words of the form `name=value`.
package struct RoundLog: Sendable {
    /// How much is told.
    package enum Level: Int {
        case rounds = 1, requests, steps
    }

    private let level: Int
    private let write: @Sendable (String) -> Void

    package init(
        level: Int = DebugSwitch.cloudKit.level,
        write: @escaping @Sendable (String) -> Void = { DebugSwitch.print($0) }
    ) {
        self.level = level
        self.write = write
    }

    package func tell(
        _ level: Level, _ event: @autoclosure () -> String,
        _ facts: @autoclosure () -> [(String, String)] = []
    ) {
        guard level.rawValue <= self.level else { return }
        let round = [("round", RoundIdentifier.current ?? "-")]
        let words = (round + facts()).map { "\($0)=\(Self.quoted($1))" }
        write("CloudKit: \(event()) \(words.joined(separator: " "))")
    }

    /// A value with blanks stands in quotes.
    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { $0 == " " || $0 == "\"" }) || text.isEmpty else { return text }
        return "\"\(text.replacing("\"", with: "'"))\""
    }
}

extension MirrorMachine.Instruction {
    /// What is to be done, in a word for a log.
    var word: String {
        switch self {
        case .prepare: "prepare"
        case .send(let request): request.word
        case .noteZone: "noteZone"
        case .apply(let page, _): "apply:\(page.records.count)"
        case .applyRecords(let records, _, _): "applyRecords:\(records.count)"
        case .planDownloads(let records): "planDownloads:\(records.count)"
        case .download: "download"
        case .upload: "upload"
        case .keepReceipt: "keepReceipt"
        case .keepName: "keepName"
        case .refuseUpload: "refuseUpload"
        case .analyse: "analyse"
        case .build: "build"
        case .record(let batch, _): "record:\(batch.items.count)"
        case .refuse: "refuse"
        case .reconcile: "reconcile"
        case .renewInstance: "renewInstance"
        case .forgetZone: "forgetZone"
        case .leaveZone: "leaveZone"
        case .wait: "wait"
        case .finish: "finish"
        }
    }
}

extension RecordRequest {
    /// What is asked, in a word for a log.
    var word: String {
        switch self {
        case .modifyRecords(let request): "records/modify:\(request.operations.count)"
        case .lookupRecords(let request): "records/lookup:\(request.recordNames.count)"
        case .zoneChanges: "changes/zone"
        case .modifyZones: "zones/modify"
        default: "other"
        }
    }
}
