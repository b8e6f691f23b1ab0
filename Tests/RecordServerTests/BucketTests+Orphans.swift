import Foundation
import KeyTesting
import Platform
import RecordService
import RecordWire
import Testing

/// Objects of a bucket that no record and no upload names.
extension BucketTests {
    private static let daySeconds = 86_400.0
    private static let old = daySeconds * 3

    /// A database that is administered beside the service.
    private final class OrphanStage {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bucket-orphans-\(UUID().uuidString)")
        let path: String
        let audit: URL

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            path = folder.appendingPathComponent("records.sqlite").path
            audit = folder.appendingPathComponent("audit.jsonl")
        }

        deinit { try? FileManager.default.removeItem(at: folder) }
    }

    private func look(
        _ stage: OrphanStage, removes: Bool = false
    ) throws -> (OrphanReport, names: [String]) {
        let notices = notices
        let administration = try ServiceAdministration(
            path: stage.path, platform: platform, audit: AuditLog(stage.audit, by: "root"),
            log: { notice in notices.withLock { $0.append(notice) } })
        var names: [String] = []
        let report = try administration.lookForOrphans(in: try objects(), removes: removes) {
            names.append($0.name)
        }
        return (report, names)
    }

    private func path(_ letter: Character) -> String {
        "/shelf/assets/\(String(repeating: letter, count: 2))/"
            + String(repeating: letter, count: 62)
    }

    @Test func onlyOldOrphansUnderThePrefixAreListedAndGo() throws {
        let stage = try OrphanStage()
        let service = try service(path: stage.path)
        try save("a", try upload(bytes(3_000), service), service)
        // No record names it yet: its upload does.
        _ = try upload(bytes(3_000, 9), service)
        bucket.age(by: Self.old)
        let named = bucket.names
        bucket.lay(path("b"), 700, age: Self.old)
        bucket.lay(path("c"), age: 60)
        let strangers = [
            "/shelf/" + path("d").dropFirst("/shelf/assets/".count), "/shelf/assets/readme.txt",
            path("A"), path("e") + "0", "/shelf/assets/0a/" + String(repeating: "x", count: 62),
            "/shelf/assets/f/f" + String(repeating: "f", count: 62), "/shelf/assets2/",
        ]
        for path in strangers { bucket.lay(path, age: Self.old) }
        let all = bucket.names

        let (report, found) = try look(stage)
        #expect(found == [String(path("b").dropFirst("/shelf/assets/".count))])
        #expect(report.objects == 4 && report.orphans == 1 && report.bytes == 700)
        #expect(report.young == 1 && report.removed == 0)
        #expect(bucket.names == all)
        #expect(try AuditLog.entries(in: stage.audit).isEmpty)

        #expect(try look(stage, removes: true).0.removed == 1)
        #expect(bucket.names == all.filter { $0 != path("b") })
        #expect(named.allSatisfy(bucket.names.contains))
        let entries = try AuditLog.entries(in: stage.audit)
        #expect(entries.map(\.act) == [.assetsRemoved])
        #expect(entries.first?.details == ["objects": "1"])
        #expect(entries.first.map { "\($0)".contains("EXAMPLE") } == false)
    }

    /// What is collected is no orphan, and a service that runs looks for none.
    @Test func aServiceRemovesNoOrphanByItself() throws {
        let stage = try OrphanStage()
        let service = try service(path: stage.path)
        bucket.lay(path("b"), age: Self.old)
        clock.advance(days: 5)
        _ = try service.collectAssets()
        #expect(bucket.names == [path("b")])
    }

    /// It is looked for again before it goes: somebody may have uploaded it since it was listed.
    @Test func anUploadMeanwhileKeepsItsObject() throws {
        let stage = try OrphanStage()
        let service = try service(path: stage.path)
        let data = bytes(3_000)
        let digest = SigningKey.sha256(data).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        bucket.lay("/shelf/assets/\(digest.prefix(2))/\(digest.dropFirst(2))", age: Self.old)
        bucket.lay(path("b"), age: Self.old)
        let administration = try ServiceAdministration(path: stage.path, platform: platform)
        let report = try administration.lookForOrphans(in: try objects(), removes: true) { _ in
            #expect(throws: Never.self) {
                try self.save("a", try self.upload(data, service), service)
            }
        }
        #expect(report.orphans == 2 && report.removed == 1)
        #expect(bucket.names.count == 1 && bucket.names.first?.hasSuffix(digest.suffix(62)) == true)
    }

    @Test func allPagesAreLookedThrough() throws {
        let stage = try OrphanStage()
        _ = try service(path: stage.path)
        for letter in "0123456" { bucket.lay(path(letter), age: Self.old) }
        bucket.setPageMax(2)
        bucket.clear()
        let (report, names) = try look(stage, removes: true)
        #expect(report.orphans == 7 && names.count == 7 && report.removed == 7)
        #expect(bucket.names.isEmpty)
        #expect(bucket.seen.filter { $0.path == "/shelf" }.map(\.status) == [200, 200, 200, 200])
    }

    @Test func whatCannotGoIsToldAndTheRestIsNoted() throws {
        let stage = try OrphanStage()
        _ = try service(path: stage.path)
        for letter in "0123456789ab" { bucket.lay(path(letter), age: Self.old) }
        // The list, a first slice of ten, and then nothing more.
        bucket.fail(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 403)
        let error = try #require(refusal { _ = try look(stage, removes: true) })
        #expect(error.code == .tryAgainLater && bucket.names.count == 2)
        #expect(try AuditLog.entries(in: stage.audit).first?.details == ["objects": "10"])
    }

    @Test func aKeyThatMayNotListIsTold() throws {
        let stage = try OrphanStage()
        _ = try service(path: stage.path)
        bucket.fail(403)
        #expect(refusal { _ = try look(stage) }?.code == .tryAgainLater)
        let told = notices.withLock { $0 }.map(\.description).joined()
        #expect(told.contains("cannot be listed") && told.contains("ListBucket"))
    }

    private static let entry =
        "<Contents><Key>assets/00/\(String(repeating: "0", count: 62))</Key>"
        + "<LastModified>2020-01-01T00:00:00.000Z</LastModified><Size>5</Size></Contents>"

    private static func page(_ inside: String) -> String {
        "<ListBucketResult>\(inside)</ListBucketResult>"
    }

    private static let mark = "<IsTruncated>true</IsTruncated><NextContinuationToken>"

    /// Pages of somebody who means ill, or is no such store at all.
    private static let badPages: [String] = [
        "", "Welcome", "<html><body>Sign in</body></html>", "<ListBucketResult><Contents>",
        "<!DOCTYPE x [<!ENTITY a \"secret\">]>" + page("<Name>&a;</Name>"),
        "<?xml version=\"1.0\"?><!DOCTYPE x SYSTEM \"file:///etc/passwd\">" + page(entry),
        page("<?x?>"), page("<![CDATA[x]]>"), page("<!-- x -->"), page("&undeclared;"),
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?>" + page(entry),
        page(String(repeating: "<a>", count: 50_000)),
        page(String(repeating: entry, count: 1_002)),
        page("<Name>" + String(repeating: "n", count: 5 << 20) + "</Name>"),
        page("<IsTruncated>true</IsTruncated>"),
        page(mark + String(repeating: "m", count: 5_000) + "</NextContinuationToken>"),
    ]

    @Test(arguments: badPages.indices)
    func aPageThatIsNoneIsRefused(index: Int) throws {
        let stage = try OrphanStage()
        _ = try service(path: stage.path)
        bucket.lay(path("0"), age: Self.old)
        bucket.givePages([Data(Self.badPages[index].utf8)])
        #expect(refusal { _ = try look(stage, removes: true) }?.code == .tryAgainLater)
        #expect(bucket.names == [path("0")])
        let told = notices.withLock { $0 }.map(\.description).joined()
        #expect(told.contains("cannot be read") && told.utf8.count < 600)
        #expect(!told.contains("secret") && !told.contains("root:"))
    }

    @Test func bytesThatAreNoTextAndAListWithoutEndAreRefused() throws {
        let stage = try OrphanStage()
        _ = try service(path: stage.path)
        bucket.givePages([Data("<ListBucketResult>".utf8) + [0xFF, 0xFE, 0x00]])
        #expect(refusal { _ = try look(stage) }?.code == .tryAgainLater)
        let same = Data(Self.page(Self.mark + "again</NextContinuationToken>").utf8)
        bucket.givePages([same, same])
        #expect(refusal { _ = try look(stage) }?.code == .tryAgainLater)
    }

    /// Entries that cannot be read are nobody's to remove.
    @Test func entriesThatAreIncompleteStay() throws {
        let stage = try OrphanStage()
        _ = try service(path: stage.path)
        bucket.lay(path("0"), age: Self.old)
        let entries = [
            Self.entry.replacing("2020-01-01T00:00:00.000Z", with: "long ago"),
            Self.entry.replacing("<Size>5", with: "<Size>-5"),
            Self.entry.replacing("<Size>5", with: "<Size>many"),
            Self.entry.replacing("assets/", with: "asset2/"),
            Self.entry.replacing("assets/", with: ""),
        ]
        bucket.givePages([Data(Self.page(entries.joined()).utf8)])
        let (report, names) = try look(stage, removes: true)
        #expect(report.objects == 0 && report.removed == 0 && names.isEmpty)
        #expect(bucket.names == [path("0")])
        // One of a store that leaves fractions of a second out is whole.
        bucket.givePages([Data(Self.page(Self.entry.replacing(".000Z", with: "Z")).utf8)])
        #expect(try look(stage).0.orphans == 1)
    }
}
