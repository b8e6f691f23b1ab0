import Foundation
import Platform
import RecordService
import Testing

/// HEAD of assets whose copies beside the service are gone.
extension BucketTests {
    /// The lines of a head that are the same for every answer of the kind, in order.
    private func lines(_ answer: RangeStage.Answer) -> [String] {
        answer.head.split(separator: "\r\n").map { String($0) }
            .filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("X-Apple-Request-UUID:") }.sorted()
    }

    @Test func aHeadOfALargeObjectMovesNoContent() throws {
        let stage = try stage(letters(5_000_000))
        let head = try stage.ask("HEAD")
        #expect(head.status == 200 && head.length == 5_000_000 && head.body.isEmpty)
        #expect(bucket.seen.map(\.method) == ["HEAD"] && bucket.sentBytes == 0)
        #expect(try lines(head) == lines(stage.ask("GET")))
    }

    @Test func aHeadHasNoRanges() throws {
        let stage = try stage(letters(400_000)) { $0.pieceBytes = 100_000 }
        let head = try stage.ask("HEAD")
        for range in ["bytes=7-300006", "bytes=400000-"] {
            let ranged = try stage.ask("HEAD", range)
            #expect(ranged.status == 200 && ranged.length == 400_000 && ranged.body.isEmpty)
            #expect(lines(ranged) == lines(head))
        }
        #expect(bucket.seen.map(\.method) == ["HEAD", "HEAD", "HEAD"] && bucket.sentBytes == 0)
    }

    @Test func aHeadOfACopyAsksTheStoreNothing() throws {
        let stage = try stage(letters(90_000)) { $0.cacheBytesMax = 1 << 20 }
        #expect(try stage.ask("HEAD").length == 90_000)
        #expect(bucket.seen.isEmpty)
    }

    @Test func aHeadTellsOfALostObjectAndOfOneOfAnotherSize() throws {
        let stage = try stage(letters(400_000))
        bucket.act(.saysAnotherSize)
        #expect(try stage.ask("HEAD").status == 404)
        bucket.act(.proper)
        #expect(try stage.ask("HEAD").status == 200)
        bucket.lose()
        #expect(try stage.ask("HEAD").status == 404)
        #expect(bucket.seen.allSatisfy { $0.method == "HEAD" })
        bucket.state.withLock { $0.isGone = true }
        #expect(try stage.ask("HEAD").status == 503)
        let told = notices.withLock { $0 }.map { "\($0.fields)" }
        #expect(told.count { $0.contains("no such object, or one of another size") } == 2)
    }

    @Test func aHeadIsTriedAgainWhereTheStoreFails() throws {
        let stage = try stage(letters(400_000))
        bucket.fail(500, 503)
        #expect(try stage.ask("HEAD").status == 200)
        #expect(bucket.seen.map(\.status) == [500, 503, 200])
        bucket.fail(503, 503, 503)
        let refused = try stage.ask("HEAD")
        #expect(refused.status == 503 && refused.head.contains("Retry-After"))
        bucket.fail(403)
        #expect(try stage.ask("HEAD").status == 503)
    }

    /// A store that answers slowly must not take all threads of the server.
    @Test func onlySomeHeadsAskTheStoreAtOnce() throws {
        let stage = try stage(letters(400_000)) { $0.fetchesMax = 0 }
        let refused = try stage.ask("HEAD")
        #expect(refused.status == 503 && refused.head.contains("Retry-After"))
        #expect(bucket.seen.isEmpty)
    }
}
