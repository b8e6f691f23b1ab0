import FaultFiles
import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// A disk that fails at any deed, a machine whose power goes with what was not synced, a disk that
/// is full: what was acknowledged is there afterwards, and the rest was refused in words.
@Suite(.serialized) struct PowerCutTests {
    private static let requests = 8
    private static let text = String(repeating: "x", count: 30_000)

    /// What clients know when it is over.
    private struct Known {
        /// Titles of records; nil for what was deleted.
        var acknowledged: [String: String?] = [:]
        /// Of which nobody was told whether it was done.
        var uncertain: Set<String> = []
        var refusals: [RecordError] = []
    }

    private func operations(_ request: Int) -> [RecordOperation] {
        var changed = Record.note("r\(request / 2)", "t\(request)")
        changed.fields["body"] = .string(Self.text)
        var made = Record.note("own\(request)", "t\(request)")
        made.fields["body"] = .string(Self.text)
        let gone = Record(recordName: "own\(request - 2)", recordType: "")
        return [
            RecordOperation(.forceUpdate, changed), RecordOperation(.create, made),
            RecordOperation(.forceDelete, gone),
        ]
    }

    private func write(_ fixture: ServiceFixture) -> Known {
        var known = Known()
        for request in 0..<Self.requests {
            let operations = operations(request)
            let names = operations.map(\.record.recordName)
            do {
                let results = try fixture.modify(operations, desiredKeys: [])
                for (operation, result) in zip(operations, results) {
                    let name = operation.record.recordName
                    if let error = result.error { known.refusals.append(error) }
                    guard let record = result.record else { continue }
                    known.uncertain.remove(name)
                    known.acknowledged[name] = .some(record.deleted ? nil : "t\(request)")
                }
            } catch {
                known.uncertain.formUnion(names)
                if let error = error as? RecordError { known.refusals.append(error) }
            }
        }
        return known
    }

    /// One trial; returns whether the fault struck.
    private func strike(_ fault: FaultFileSystem.Fault, at deed: Int) throws -> Bool {
        let faults = FaultFileSystem.shared
        var hasStruck = false
        try withDatabasePath { path in
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            var known = Known()
            do {
                let fixture = try ServiceFixture(path: path)
                try fixture.save(.note("before", "t"))
                faults.begin(folder, fault, at: deed)
                known = write(fixture)
                if fault == .full {
                    #expect(try fixture.lookup(["before"])[0].record != nil)
                }
            }
            hasStruck = faults.end(folder).hasStruck
            try check(known, path, "\(fault) at \(deed)")
        }
        return hasStruck
    }

    private func check(_ known: Known, _ path: String, _ what: String) throws {
        for error in known.refusals {
            #expect([.tryAgainLater, .internalError].contains(error.code), "\(what): \(error)")
            #expect(!error.reason.isEmpty && !error.reason.contains("SQL"), "\(what): \(error)")
        }
        let fixture = try ServiceFixture(path: path, seed: 2, makesZone: false)
        #expect(try fixture.service.damageInFile() == [], "\(what)")
        var found: [String: String] = [:]
        var token: String?
        var goesOn = true
        while goesOn {
            let page = try fixture.changes(since: token)
            #expect(page.failure == nil && page.damagedRecords.isEmpty, "\(what)")
            for record in page.records where !record.deleted {
                if case .string(let title)?? = record.fields["title"] {
                    found[record.recordName] = title
                }
            }
            (token, goesOn) = (page.syncToken, page.moreComing)
        }
        #expect(found["before"] == "t", "\(what)")
        for (name, title) in known.acknowledged where !known.uncertain.contains(name) {
            #expect(found[name] == title, "\(what): \(name)")
        }
        // Writing goes on.
        #expect(try fixture.save(.note("after")).recordChangeTag != nil, "\(what)")
    }

    /// Strikes at every `step`th deed until none is left to strike at; returns how often it did.
    private func strikeEverywhere(_ fault: FaultFileSystem.Fault, by step: Int) throws -> Int {
        var struck = 0
        while try strike(fault, at: 1 + struck * step) { struck += 1 }
        return struck
    }

    @Test func aDiskThatFailsKeepsWhatWasAcknowledged() throws {
        #expect(try strikeEverywhere(.failing, by: 11) > 10)
    }

    @Test func aPowerCutKeepsWhatWasAcknowledged() throws {
        #expect(try strikeEverywhere(.losingUnsynced, by: 7) > 15)
    }

    @Test func aFullDiskKeepsWhatWasAcknowledgedAndIsRead() throws {
        #expect(try strikeEverywhere(.full, by: 11) > 10)
    }
}
