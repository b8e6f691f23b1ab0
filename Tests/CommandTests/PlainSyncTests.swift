import Foundation
import Testing

/// The command with a service that hides every extension.
@Suite struct PlainSyncTests {
    @Test func twoLibrariesAgreeThroughAPlainServiceAndKeepItsTokens() throws {
        let workshop = try Workshop()
        let service = try workshop.service("--dialect", "plain")
        let (one, other) = (try workshop.library("one.sqlite"), try workshop.library("two.sqlite"))
        let issued = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
        try workshop.edit(one, "insert Tag name=a\ninsert Book b title=B")
        for library in [one, other] {
            try workshop.done(["sync", library] + service.settings)
        }
        try workshop.expectEqual(one, other)
        let rotated = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
        #expect(rotated != issued && rotated.contains("\nuser: dpt_"))
        let lines = issued.split(separator: "\n").filter { !$0.hasPrefix("user:") }
        for line in lines { #expect(rotated.contains(line)) }
        let mode = try FileManager.default.attributesOfItem(atPath: service.text("tokenFile"))
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        // The service starts anew, and so do the devices, with the token that was kept.
        service.kill()
        try service.restart()
        #expect(!service.child.complaint.contains("not good"))
        try workshop.edit(other, "set Book[title == 'B'] title=C")
        for library in [other, one] {
            try workshop.done(["sync", library] + service.settings)
        }
        try workshop.expectEqual(one, other)
    }

    @Test func anUnknownDialectIsRefused() throws {
        let workshop = try Workshop()
        let run = try workshop.run("serve", "--json", "--dialect", "apple")
        #expect(run.status == 2 && run.errorCode == "usage")
    }
}
