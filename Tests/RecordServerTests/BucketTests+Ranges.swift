import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Ranges of assets whose copies beside the service are gone.
extension BucketTests {
    /// A server whose service keeps no copies, and the address of one asset.
    final class RangeStage {
        private let server: RecordServer
        private let port: UInt16
        private let key: String

        init(_ service: RecordService, key: String) throws {
            self.key = key
            var configuration = ServerConfiguration(tls: .off)
            configuration.port = 0
            server = RecordServer(service: service, configuration: configuration)
            port = UInt16(try server.start().port ?? 0)
        }

        deinit { server.stop() }

        struct Answer {
            var status: Int
            var head: String
            var body: String
            /// As the head says.
            var length: Int
        }

        func get(_ range: String) throws -> Answer { try ask("GET", range) }

        func ask(_ method: String, _ range: String? = nil) throws -> Answer {
            let client = try RawClient(port: port)
            client.send(
                "\(method) \(AssetPath.download)?key=\(key) HTTP/1.1\r\nHost: h\r\n"
                    + (range.map { "Range: \($0)\r\n" } ?? "") + "Connection: close\r\n\r\n")
            let text = client.read()
            let end = try #require(text.firstRange(of: "\r\n\r\n"))
            let head = String(text[..<end.lowerBound])
            let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) }
            return Answer(
                status: Int(head.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0, head: head,
                body: String(text[end.upperBound...]), length: try #require(length))
        }
    }

    /// Characters of one byte, so that what comes can be compared as text; no stretch of a hundred
    /// is there twice.
    func letters(_ count: Int) -> Data {
        var data = Data(capacity: count)
        for index in 0..<count {
            let mixed = index &* 31 &+ index / 97 &+ index / 9_409
            data.append(UInt8(48 + mixed % 75))
        }
        return data
    }

    func stage(
        _ data: Data, _ change: (inout AssetBucketLimits) -> Void = { _ in }
    ) throws -> RangeStage {
        let service = try service {
            $0.cacheBytesMax = 0
            change(&$0)
        }
        try save("a", try upload(data, service), service)
        let key = try key(of: "a", service)
        bucket.clear()
        return try RangeStage(service, key: key)
    }

    private func text(_ data: Data, _ range: Range<Int>) -> String {
        String(decoding: data[range], as: UTF8.self)
    }

    @Test func aRangeOfALargeObjectCostsThatRange() throws {
        let data = letters(5_000_000)
        let stage = try stage(data)
        let answer = try stage.get("bytes=1000000-1000099")
        #expect(answer.status == 206 && answer.length == 100)
        #expect(answer.head.contains("Content-Range: bytes 1000000-1000099/5000000"))
        #expect(answer.body == text(data, 1_000_000..<1_000_100))
        #expect(bucket.seen.map(\.range) == ["bytes=1000000-1000099"])
        #expect(bucket.sentBytes == 100)
        bucket.clear()
        let last = try stage.get("bytes=-7")
        #expect(last.head.contains("Content-Range: bytes 4999993-4999999/5000000"))
        #expect(last.body == text(data, 4_999_993..<5_000_000) && bucket.sentBytes == 7)
    }

    @Test func aRangeThatIsNotThereAsksTheStoreNothing() throws {
        let stage = try stage(letters(2_000_000))
        let answer = try stage.get("bytes=2000000-")
        #expect(answer.status == 416)
        #expect(answer.head.contains("Content-Range: bytes */2000000"))
        #expect(bucket.seen.isEmpty)
    }

    @Test func aLongRangeComesPieceByPiece() throws {
        let data = letters(900_000)
        let stage = try stage(data) { $0.pieceBytes = 100_000 }
        let answer = try stage.get("bytes=50001-")
        #expect(answer.status == 206 && answer.body == text(data, 50_001..<900_000))
        #expect(
            bucket.seen.map(\.range)
                == (0..<9).map {
                    "bytes=\(50_001 + $0 * 100_000)-\(min(150_000 + $0 * 100_000, 899_999))"
                })
        #expect(bucket.seen.allSatisfy { $0.bytes <= 100_000 })
    }

    /// A piece that breaks off goes on where it stopped.
    @Test func aPieceGoesOnWhereTheStoreBrokeOff() throws {
        let data = letters(400_000)
        let stage = try stage(data) { $0.pieceBytes = 100_000 }
        bucket.cut(after: 30_000, times: 2)
        let answer = try stage.get("bytes=100000-299999")
        #expect(answer.body == text(data, 100_000..<300_000))
        #expect(bucket.seen.count == 4)
        #expect(bucket.seen[1].range?.hasSuffix("-199999") == true)
        #expect(bucket.seen[1].range != bucket.seen[0].range)
    }

    /// Before the first byte it is an answer, later the end of the connection: a client never takes
    /// a part for the whole.
    @Test func aStoreThatFailsInTheMiddleEndsTheAnswer() throws {
        let data = letters(400_000)
        let stage = try stage(data) { $0.pieceBytes = 100_000 }
        bucket.fail(503, 503, 503)
        let refused = try stage.get("bytes=1-399999")
        #expect(refused.status == 503 && refused.body.contains("TRY_AGAIN_LATER"))
        #expect(!refused.head.contains("Content-Range"))
        bucket.fail(0, 500, 500, 500)
        let broken = try stage.get("bytes=1-399999")
        #expect(broken.status == 206 && broken.length == 399_999)
        #expect(broken.body == text(data, 1..<100_001))
        #expect(try stage.get("bytes=100001-399999").body == text(data, 100_001..<400_000))
    }

    @Test func aStoreWithoutRangesGivesTheRangeAllTheSame() throws {
        let data = letters(400_000)
        let stage = try stage(data) { $0.pieceBytes = 100_000 }
        bucket.act(.knowsNoRanges)
        let answer = try stage.get("bytes=120000-300000")
        #expect(answer.status == 206 && answer.body == text(data, 120_000..<300_001))
    }

    @Test func aStoreThatSendsLessIsAskedForTheRest() throws {
        let data = letters(400_000)
        let stage = try stage(data) { $0.pieceBytes = 100_000 }
        bucket.act(.sendsLess)
        let answer = try stage.get("bytes=120000-300000")
        #expect(answer.status == 206 && answer.body == text(data, 120_000..<300_001))
        bucket.act(.sendsNothing)
        #expect(try stage.get("bytes=120000-300000").status == 503)
    }

    @Test func anotherRangeAndAnotherObjectAreNotTakenForThis() throws {
        let stage = try stage(letters(400_000)) { $0.pieceBytes = 100_000 }
        bucket.act(.sendsAnother)
        #expect(try stage.get("bytes=120000-300000").status == 503)
        bucket.act(.saysAnotherSize)
        #expect(try stage.get("bytes=120000-300000").status == 404)
        bucket.lose()
        #expect(try stage.get("bytes=120000-300000").status == 404)
        let told = notices.withLock { $0 }.map { "\($0.fields)" }
        #expect(told.contains { $0.contains("another range") })
        #expect(told.contains { $0.contains("of another size") })
    }

    /// It costs one request as well, and what came can be compared with its name.
    @Test func aSmallObjectIsFetchedWholeAndChecked() throws {
        let data = letters(90_000)
        let stage = try stage(data) { $0.pieceBytes = 100_000 }
        #expect(try stage.get("bytes=10-19").body == text(data, 10..<20))
        #expect(bucket.seen.map(\.range) == [nil])
        bucket.damage()
        #expect(try stage.get("bytes=10-19").status == 404)
    }

    /// Where too many pass through, the whole is fetched; a place is free again afterwards.
    @Test func onlySomeDownloadsPassThroughAtOnce() throws {
        let data = letters(400_000)
        let one = try stage(data) {
            $0.pieceBytes = 100_000
            $0.passingMax = 1
        }
        for start in [0, 150_000, 350_000] {
            let answer = try one.get("bytes=\(start)-\(start + 9)")
            #expect(answer.body == text(data, start..<start + 10))
        }
        #expect(bucket.sentBytes == 30)
        let none = try stage(data) {
            $0.pieceBytes = 100_000
            $0.passingMax = 0
        }
        #expect(try none.get("bytes=5-9").body == text(data, 5..<10))
        #expect(bucket.seen.map(\.range) == [nil] && bucket.sentBytes == 400_000)
    }
}
