import Foundation
import ObjectModel
import Testing

/// Which archives of values Foundation may be given to unarchive.
@Suite struct ArchiveReachTests {
    @Test func whatFoundationArchivesIsBounded() throws {
        let values: [Any] = [
            "text", ["a", "b"], ["a": [1, 2.5, true] as [Any], "b": ["c": Data([1])]],
            Array(repeating: ["same"], count: 5_000), Set(["p", "q"]),
        ]
        for value in values {
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: value, requiringSecureCoding: false)
            #expect(ArchiveReach.isBounded(data))
        }
    }

    @Test func anArchiveThatHoldsItselfIsNot() {
        var archive = ForgedArchive()
        let list = archive.reserve()
        archive.put("NSArray", [("NS.objects", archive.list([list]))], at: list)
        #expect(!ArchiveReach.isBounded(archive.data(root: list)))
    }

    @Test(arguments: [(100, true), (20_000, false)])
    func aLineOfObjectsIsBoundedWhereItIsShort(length: Int, isBounded: Bool) {
        var archive = ForgedArchive()
        var inner = archive.plain(.string("end"))
        for _ in 0..<length {
            inner = archive.put("NSArray", [("NS.objects", archive.list([inner]))])
        }
        #expect(ArchiveReach.isBounded(archive.data(root: inner)) == isBounded)
    }

    @Test func listsThatDoubleWithEachStepAreNot() {
        var nodes: [PropertyListNode] = (0..<40).map { .array([$0 + 1, $0 + 1]) } + [.bool(true)]
        nodes += [.string("$objects"), .array([0]), .dictionary([.init(key: 41, value: 42)])]
        #expect(!ArchiveReach.isBounded(ForgedArchive.plist(nodes, root: 43)))
    }

    @Test func otherBytesAreNot() {
        #expect(!ArchiveReach.isBounded(Data("<plist><dict/></plist>".utf8)))
        #expect(!ArchiveReach.isBounded(Data()))
    }
}
