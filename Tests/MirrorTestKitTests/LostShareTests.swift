import Foundation
import MirrorTestKit
import Testing

/// A service, a zone or a backup that knows nothing of a share takes the objects that were in it.
@Suite struct LostShareTests {
    private func play(_ befalls: String, ends: Bool = false) throws -> StoryReport {
        try StoryStage.play(
            """
            entity Note: title text
            entity Tag: label text
            relation Note.tags many, Tag.notes many
            devices Ann, Ann2
            devices Cem of Cem
            Ann inserts Note n with title "Milk"
            Ann inserts Tag t with label "shop"
            Ann adds t to n.tags
            everyone settles
            the service is backed up
            Ann shares n as trip
            Ann invites Cem to trip
            Cem accepts trip
            everyone settles
            \(ends ? "Ann ends trip\neveryone settles" : "Ann sets t.label to \"home\"")
            \(befalls)
            Ann syncs
            everyone settles
            Ann sets n.title to "Bread"
            everyone settles
            expect Ann is in sync
            expect Ann2 is in sync
            expect n.title is "Bread" on Ann2
            expect n.tags is t on Ann2
            """)
    }

    @Test(arguments: ["the service is lost", "the zone is deleted", "the service is restored"])
    func whatWasSharedIsSentAgain(befalls: String) throws {
        let report = try play(befalls)
        #expect(report.failures.isEmpty, "\(report.told)")
    }

    @Test(arguments: ["the service is lost", "the zone is deleted"])
    func whatWasSharedOnceIsSentAgain(befalls: String) throws {
        let report = try play(befalls, ends: true)
        #expect(report.failures.isEmpty, "\(report.told)")
    }
}
