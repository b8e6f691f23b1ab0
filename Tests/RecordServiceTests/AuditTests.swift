import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// What administrators did is noted, and no secret with it.
@Suite(.everyBackend) struct AuditTests {
    @Test func eachActIsALineWithoutSecrets() throws {
        let folder = try AssetFolder()
        do {
            let storage = folder.storage
            let file = folder.url.appendingPathComponent("audit.jsonl")
            #expect(try AuditLog.entries(in: file).isEmpty)
            let audit = AuditLog(file, by: "root")
            let service = try storage.service(audit: audit)
            let accounts = service.accounts
            try accounts.createContainer("iCloud.a")
            try accounts.createContainer("iCloud.a")
            let user = try accounts.createUser(label: "Ann\n\u{1B}")
            let api = try accounts.issueAPIToken(container: "iCloud.a", label: "desk")
            let own = try accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "desk")
            try accounts.setQuota(UserQuota(recordsMax: 5), of: user.userRecordName)
            try accounts.setGrant(
                RoleGrant(recordType: "Note", role: "Editor", reads: true), container: "iCloud.a")
            try accounts.addRole(
                "Editor", to: user.userRecordName, container: "iCloud.a")
            try accounts.deploySchema(container: "iCloud.a")
            try accounts.revoke(tokenID: own.description.id)
            #expect(throws: RecordError.self) { try accounts.revoke(tokenID: "none") }
            if case .file(let path) = storage {
                _ = try storage.administration(audit: audit).backUp(to: path + ".backup")
            } else {
                try audit.note(.backup, "pg_dump")
            }
            let entries = try AuditLog.entries(in: file)
            #expect(
                entries.map(\.act) == [
                    .containerMade, .userAdded, .tokenMade, .tokenMade, .quotaChanged,
                    .grantChanged, .roleChanged, .schemaDeployed, .tokenRevoked, .backup,
                ])
            #expect(entries.allSatisfy { $0.by == "root" && $0.at > 1_700_000_000_000 })
            #expect(entries[2].details["for"] == "iCloud.a" && entries[2].details["kind"] == "api")
            #expect(entries[4].details == ["records": "5", "bytes": "standard"])
            #expect(entries[8].subject == own.description.id)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains(api.secret) && !text.contains(own.secret))
            #expect(text.split(separator: "\n").count == 10 && !text.contains("\u{1B}"))
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func aTornLineIsPassedOver() throws {
        try withDatabasePath { path in
            let file = URL(fileURLWithPath: path + "-audit.jsonl")
            let audit = AuditLog(file, by: "root")
            try audit.note(.userAdded, "_ann")
            let handle = try FileHandle(forWritingTo: file)
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("{\"at\":1,\"by\n".utf8))
            try handle.close()
            try audit.note(.restore, "/backup")
            #expect(try AuditLog.entries(in: file).map(\.act) == [.userAdded, .restore])
        }
    }

    @Test func whatCannotBeNotedIsSaid() throws {
        try withDatabasePath { path in
            try Data().write(to: URL(fileURLWithPath: path))
            let audit = AuditLog(URL(fileURLWithPath: path + "/none/audit"), by: "root")
            let service = try StoragePlace.current.make().service(audit: audit)
            let error = #expect(throws: RecordError.self) {
                try service.accounts.createContainer("iCloud.a")
            }
            #expect(error?.reason.hasPrefix("It was done") == true)
            #expect(try service.accounts.containers() == ["iCloud.a"])
        }
    }
}
