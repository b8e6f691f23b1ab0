import ChildProcesses
import Foundation
import Testing

/// `diptych sync --watch`, and a store that is not the one any more that was opened: the watch
/// ends, so that its unit opens the store anew.
@Suite struct LeftStoreTests {
    private let workshop: Workshop
    private let service: TestService
    private let desk: String

    init() throws {
        workshop = try Workshop()
        service = try workshop.service()
        desk = try workshop.library("desk.sqlite")
    }

    private func watch() throws -> Child {
        let child = try workshop.start(
            ["sync", desk, "--watch", "--json", "--interval", "1"] + service.settings)
        try until { child.printed.contains(#""event":"round""#) }
        return child
    }

    @Test func aMigrationEndsTheWatch() throws {
        let watching = try watch()
        let newer = try workshop.model {
            $0.replacing(
                "<attribute name=\"pages\"",
                with: "<attribute name=\"edition\" optional=\"YES\" attributeType=\"String\"/>\n"
                    + "        <attribute name=\"pages\"")
        }
        try workshop.done(["migrate", desk, "--to", newer])
        try workshop.edit(desk, "insert Book title=One edition=first")
        #expect(watching.wait() == 1)
        #expect(watching.complaint.contains("migrated the store"))
        let next = try watch()
        try until { try workshop.run("status", desk).status == 0 }
        next.send(SIGTERM)
        #expect(next.wait() == 0)
    }

    @Test func anotherFileInItsPlaceEndsTheWatch() throws {
        let copy = workshop.path("copy.sqlite")
        let watching = try watch()
        _ = try workshop.sql(desk, ".backup \(copy)")
        try workshop.edit(desk, "insert Book title=Lost")
        try until { try workshop.run("status", desk).status == 0 }
        for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: desk + end) }
        #expect(rename(copy, desk) == 0)
        try workshop.edit(desk, "insert Book title=Kept")
        #expect(watching.wait() == 1)
        #expect(watching.complaint.contains("Another file"))
        let next = try watch()
        try until { try workshop.run("status", desk).status == 0 }
        next.send(SIGTERM)
        #expect(next.wait() == 0)
        #expect(
            try workshop.sql(desk, "select group_concat(ZTITLE) from ZBOOK order by 1")
                .contains("Kept"))
    }
}
