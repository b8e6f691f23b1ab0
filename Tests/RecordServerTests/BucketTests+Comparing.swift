import Foundation
import KeyTesting
import Platform
import RecordService
import RecordWire
import Testing

/// Objects of a bucket that no record and no upload names, and those that it lacks.
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
    ) throws -> (ObjectReport, names: [String], missing: [String]) {
        let notices = notices
        let administration = try ServiceAdministration(
            path: stage.path, platform: platform, audit: AuditLog(stage.audit, by: "root"),
            log: { notice in notices.withLock { $0.append(notice) } })
        var (names, missing): ([String], [String]) = ([], [])
        let report = try administration.compareObjects(in: try objects(), removes: removes) {
            switch $0 {
            case .orphan(let object): names.append(object.name)
            case .missing(let object): missing.append(object.name)
            }
        }
        return (report, names, missing)
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

        let (report, found, _) = try look(stage)
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
        let report = try administration.compareObjects(in: try objects(), removes: true) { _ in
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
        let (report, names, _) = try look(stage, removes: true)
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
        let (report, names, _) = try look(stage, removes: true)
        #expect(report.objects == 0 && report.removed == 0 && names.isEmpty)
        #expect(bucket.names == [path("0")])
        // One of a store that leaves fractions of a second out is whole.
        bucket.givePages([Data(Self.page(Self.entry.replacing(".000Z", with: "Z")).utf8)])
        #expect(try look(stage).0.orphans == 1)
    }

    // MARK: What is missing

    /// Several contents that records name, by the paths of their objects.
    private func named(_ count: Int, _ service: RecordService) throws -> [String] {
        for index in 0..<count {
            try save("r\(index)", try upload(bytes(2_000, index + 1), service), service)
        }
        return bucket.names
    }

    private func name(of path: String) -> String {
        String(path.dropFirst("/shelf/assets/".count))
    }

    @Test(arguments: [1_000, 3, 1])
    func whatRecordsNameAndTheBucketLacksIsTold(pageMax: Int) throws {
        let stage = try OrphanStage()
        let paths = try named(7, try service(path: stage.path))
        bucket.setPageMax(pageMax)
        #expect(try look(stage).missing.isEmpty)
        for index in [0, 3, 6] { bucket.drop(paths[index]) }
        // One of another size is another.
        bucket.lay(paths[4], 1_999)
        let (report, orphans, missing) = try look(stage)
        #expect(missing == [0, 3, 4, 6].map { name(of: paths[$0]) })
        #expect(report.missing == 4 && report.orphans == 0 && orphans.isEmpty)
        for path in paths { bucket.drop(path) }
        #expect(try look(stage, removes: true).0.missing == 7)
    }

    /// Not all stores list by name: nothing is called missing that is there.
    @Test func aListInAnotherOrderHidesNothing() throws {
        let stage = try OrphanStage()
        let paths = try named(4, try service(path: stage.path))
        bucket.givePages([Data(Self.page("<Name>shelf</Name>").utf8)])
        #expect(try look(stage).missing.isEmpty)
        bucket.drop(paths[2])
        bucket.givePages([
            Data(Self.page(Self.mark + "1</NextContinuationToken>" + Self.listed(paths[3])).utf8),
            Data(Self.page(Self.listed(paths[0])).utf8),
        ])
        #expect(try look(stage).missing == [name(of: paths[2])])
    }

    /// An upload that no record names may go, and a deleted record misses nothing.
    @Test func whatNoRecordNamesIsNotMissed() throws {
        let stage = try OrphanStage()
        let service = try service(path: stage.path)
        _ = try upload(bytes(2_000), service)
        for path in bucket.names { bucket.drop(path) }
        #expect(try look(stage).missing.isEmpty)
    }

    @Test func whereTheBucketDoesNotSayNothingIsCalledMissing() throws {
        let stage = try OrphanStage()
        let paths = try named(1, try service(path: stage.path))
        bucket.drop(paths[0])
        bucket.fail(0, 403)
        #expect(refusal { _ = try look(stage) }?.code == .tryAgainLater)
    }

    private static func listed(_ path: String) -> String {
        "<Contents><Key>\(path.dropFirst("/shelf/".count))</Key>"
            + "<LastModified>2020-01-01T00:00:00.000Z</LastModified><Size>2000</Size></Contents>"
    }
}
