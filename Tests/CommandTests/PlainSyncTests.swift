import ChildProcesses
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

    @Test func tokensAndSettingsOfASystemWithCarriageReturnsAreReadAndKept() throws {
        let workshop = try Workshop()
        let service = try workshop.service("--dialect", "plain")
        let library = try workshop.library()
        let file = URL(fileURLWithPath: service.text("tokenFile"))
        let issued = try String(contentsOf: file, encoding: .utf8)
        let dos = issued.replacing("\n", with: "\r\n")
        let tokens = try workshop.write(dos, to: "dos.tokens")
        let names = [("service", "url"), ("container", "container"), ("ca-file", "caFile")]
        let lines = names.map { "\($0.0) = \(service.text($0.1))\r\n" }.joined()
        try workshop.write("\(lines)token-file = \(tokens)\r\n", to: "diptych.conf")
        try workshop.done(["sync", library, "--trust"])
        let rotated = try String(contentsOfFile: tokens, encoding: .utf8)
        #expect(rotated.utf8.elementsEqual(dos.utf8) == false)
        try workshop.done(["sync", library])
        // What --remember writes takes the place of what was there.
        try workshop.done(["sync", library, "--interval", "7", "--remember"])
        let kept = try String(contentsOfFile: workshop.path("diptych.conf"), encoding: .utf8)
        #expect(!kept.utf8.contains(13) && kept.components(separatedBy: "service =").count == 2)
    }

    @Test func anUnknownDialectIsRefused() throws {
        let workshop = try Workshop()
        let run = try workshop.run("serve", "--json", "--dialect", "apple")
        #expect(run.status == 2 && run.errorCode == "usage")
    }
}
