import MirrorEngine
import MirrorTestKit
import Testing

/// The tables of docs/MERGE.md section 13, line by line, between two devices and a service.
@Suite struct MergeTableWorldTests {
    static let rules = [
        "local", "remote", "overwrite", "rollback", "error", "latest", "max", "min",
    ]

    @Test(arguments: TableColumn.allCases, rules)
    func twoDevicesComeToWhatTheTablesSay(column: TableColumn, rule: String) throws {
        for deletion in DeletionRule.allCases where column == .object || deletion == .deleteWins {
            for isLocalLater in rule == "latest" ? [true, false] : [true] {
                let world = try TableWorld(
                    column, rule: rule, deletion: deletion, isLocalLater: isLocalLater)
                try world.run()
                try world.check()
            }
        }
    }
}

/// All cases of one column side by side: the first device writes what the second finds at the
/// service.
private struct TableWorld {
    let rule: String
    let deletion: DeletionRule
    let isLocalLater: Bool
    let column: TableColumn
    let remote: TableDevice
    let local: TableDevice
    let cases = MergeCase.all

    init(_ column: TableColumn, rule: String, deletion: DeletionRule, isLocalLater: Bool) throws {
        (self.column, self.rule, self.deletion) = (column, rule, deletion)
        self.isLocalLater = isLocalLater
        let service = try Device.service()
        let policy = MergePolicy(
            standard: try #require(MergeRule(name: rule)), deletion: deletion)
        let model = TableColumn.model()
        remote = TableDevice(
            device: try Device(1, service, model: model, policy: policy), column: column)
        local = TableDevice(
            device: try Device(2, service, model: model, policy: policy), column: column)
    }

    func run() throws {
        try remote.furnish(cases.count)
        for (number, met) in cases.enumerated() {
            try remote.bring(number, from: .absent, to: met.base)
        }
        try settle()
        for device in [remote, local] { device.device.clock.advance(seconds: 100) }
        (isLocalLater ? local : remote).device.clock.advance(seconds: 100)
        for (number, met) in cases.enumerated() {
            try remote.bring(number, from: met.base, to: met.remote)
            try local.bring(number, from: met.base, to: met.local)
        }
        try settle()
    }

    private func settle() throws {
        for _ in 0..<3 {
            for device in [remote, local] { #expect(try device.device.sync().error == nil) }
        }
    }

    func check() throws {
        for (number, met) in cases.enumerated() {
            let expected = try expectation(met)
            let line = "\(met.testDescription) as \(column) under \(rule), \(deletion)"
            #expect(try local.text(number) == expected.local, "\(line)")
            #expect(try remote.text(number) == expected.remote, "\(line), at the other device")
        }
        let waiting = try local.device.mirrored.conflicts(waitingOnly: true)
        #expect(try waiting.count == cases.filter { try expectation($0).waits }.count)
    }

    /// What both devices come to; where a decision waits, each has its own.
    private func expectation(
        _ met: MergeCase
    ) throws -> (local: String, remote: String, waits: Bool) {
        let cell = try #require(MergeTable.kinds).cell(column.heading, met)
        if cell.hasPrefix("– or ") {
            let kept = deletion == .keepEdited ? String(cell.dropFirst(5)) : "–"
            return (kept, kept, false)
        }
        guard cell == "rule" else { return (cell, cell, false) }
        let isLink = column == .toOne || column == .place
        let words = try #require(MergeTable.rules).cell("`\(rule)`", met)
        switch words {
        case "gives way": return both(met.local)
        case "the later": return both(isLocalLater ? met.local : met.remote)
        case let words where words.hasSuffix(", waits"):
            return (met.local.rawValue, met.remote.rawValue, true)
        case let words:
            // Links have no order: the rule gives way, to itself, which is no side.
            let givesWay = isLink && ["max", "min"].contains(rule)
            return givesWay ? both(met.local) : (words, words, false)
        }
    }

    private func both(_ side: MergeSide) -> (local: String, remote: String, waits: Bool) {
        (side.rawValue, side.rawValue, false)
    }
}
