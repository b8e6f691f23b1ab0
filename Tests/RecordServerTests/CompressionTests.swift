import CZlib
import CZstd
import Foundation
import MirrorTransport
import RecordServer
import RecordWire
import Testing

/// Bodies that travel smaller than they are, and strangers' small bodies that are not.
@Suite struct CompressionTests {
    enum Packing: String, CaseIterable, CustomTestStringConvertible {
        case gzip, zstd

        var testDescription: String { rawValue }

        func pack(_ data: Data) -> Data {
            switch self {
            case .gzip: CompressionTests.gzip(data)
            case .zstd: CompressionTests.zstd(data)
            }
        }
    }

    private func save(_ text: String) throws -> Data {
        var record = Record(recordName: "a", recordType: "Note")
        record.fields["text"] = .string(text)
        let change = ModifyRecords(operations: [RecordOperation(.create, record)], zoneID: nil)
        return try WireCodec.encode(.modifyRecords(change)).body
    }

    @Test(arguments: Packing.allCases)
    func bodiesAreCompressedBothWays(_ packing: Packing) throws {
        let server = try TestServer()
        let client = try server.client()
        let plain = try save(String(repeating: "text and more of it; ", count: 10_000))
        var call = server.post("records/modify", packing.pack(plain))
        call.headers.append(("Content-Encoding", packing.rawValue))
        call.headers.append(("Accept-Encoding", packing.rawValue))
        let answer = try client.perform(call)
        #expect(answer.status == 200)
        #expect(answer.headers["content-encoding"] == packing.rawValue)
        #expect(answer.headers["vary"] == "Accept-Encoding")
        #expect(answer.body.count > 200_000)
        #expect(client.byteCount.sent < 20_000 && client.byteCount.received < 20_000)
        call.headers.removeLast()
        call.headers.append(("Accept-Encoding", "\(packing.rawValue);q=0, br"))
        let large = try client.perform(call)
        #expect(large.status == 200 && large.headers["content-encoding"] == nil)
        #expect(client.byteCount.received > 200_000)
    }

    @Test(
        arguments: [
            ("gzip, zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"),
            ("ZSTD;q=0.5, gzip", "gzip"),
            ("zstd;q=0.8, gzip;q=0.7", "zstd"), ("*", "gzip"), ("*;q=0", nil), ("br", nil),
            ("zstd;q=0, gzip", "gzip"), ("zstd;q=x", nil), ("", nil),
        ] as [(String, String?)])
    func aClientIsGivenWhatItLikesBest(_ accepted: String, _ given: String?) throws {
        let server = try TestServer()
        var call = server.post("records/modify", try save(String(repeating: "text", count: 1_000)))
        call.headers.append(("Accept-Encoding", accepted))
        #expect(try server.client().perform(call).headers["content-encoding"] == given)
    }

    @Test(arguments: Packing.allCases)
    func aBombIsStoppedAndABrokenStreamRefused(_ packing: Packing) throws {
        let server = try TestServer { $0.expandedBytesMax = 6 << 20 }
        let client = try server.client()
        func answer(_ body: Data, _ encoding: String = packing.rawValue) throws -> CurlAnswer {
            try client.perform(
                server.post(
                    "records/modify", body,
                    headers: TestServer.tokens + [("Content-Encoding", encoding)]))
        }
        // Beyond the size; then within it, but swelling a thousandfold.
        for bomb in [Self.noise(7 << 20), Data(count: 5 << 20)] {
            let stopped = try answer(packing.pack(bomb))
            #expect(stopped.status == 413)
            #expect(try WireCodec.decodeError(stopped.body).code == .limitExceeded)
        }
        #expect(try answer(packing.pack(Self.noise(5 << 20))).status == 400)
        #expect(try answer(packing.pack(Data(count: 3 << 20))).status == 400)
        #expect(try answer(packing.pack(Data("[]".utf8)).dropLast(3)).status == 400)
        #expect(try answer(Data("plain".utf8)).status == 400)
        #expect(try answer(packing.pack(Data("{}".utf8)) + Data([0])).status == 400)
        #expect(try answer(Data()).status == 400)
        let other = try answer(Data("{}".utf8), "br")
        #expect(other.status == 415 && other.headers["accept-encoding"] == "zstd, gzip")
    }

    /// A file that was compressed piece by piece is one body: gzip's members, zstd's frames.
    @Test(arguments: Packing.allCases)
    func aBodyMayBeCompressedInPieces(_ packing: Packing) throws {
        let server = try TestServer { $0.expandedBytesMax = 6 << 20 }
        let client = try server.client()
        func status(_ body: Data) throws -> Int {
            var call = server.post("records/modify", body)
            call.headers.append(("Content-Encoding", packing.rawValue))
            return try client.perform(call).status
        }
        let plain = try save(String(repeating: "text and more of it; ", count: 10_000))
        let (first, rest) = (plain.prefix(100_000), plain.dropFirst(100_000))
        let pieces = packing.pack(Data(first)) + packing.pack(Data()) + packing.pack(Data(rest))
        #expect(try status(pieces) == 200)
        #expect(try status(pieces.dropLast(3)) == 400)
        #expect(try status(pieces + Data("x".utf8)) == 400)
        // What the pieces come to is what counts.
        let noise = packing.pack(Self.noise(4 << 20))
        #expect(try status(noise + noise) == 413)
        // Each of them takes time, and none says anything.
        func empty(_ count: Int) -> Data {
            Data(repeatElement(packing.pack(Data()), count: count).joined())
        }
        #expect(try status(empty(9_000) + pieces) == 200)
        #expect(try status(empty(10_000) + pieces) == 400)
    }

    /// Eleven bytes may ask a decoder for two gigabytes.
    @Test(arguments: [(10, 200), (23, 200), (24, 400), (27, 400), (31, 400), (41, 400)])
    func aWindowIsNoLargerThanEightMegabytes(_ log: Int, _ status: Int) throws {
        let server = try TestServer()
        // A frame with that window, and one block: the two bytes of the body as they are.
        let body = Data("{}".utf8)
        let frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, UInt8(log - 10) << 3, 0x11, 0, 0]) + body
        var call = server.post("users/caller", frame)
        call.headers.append(("Content-Encoding", "zstd"))
        #expect(try server.client().perform(call).status == status)
    }

    // MARK: What strangers send

    /// Bytes that shrink by less than half.
    private static func noise(_ count: Int) -> Data {
        var state: UInt64 = 1
        return Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(state >> 60)
            })
    }

    private static func gzip(_ data: Data) -> Data {
        var small = Data(count: diptych_gzip_bound(data.count))
        var count = small.count
        let status = small.withUnsafeMutableBytes { target in
            data.withUnsafeBytes { source in
                diptych_gzip(source.baseAddress, source.count, target.baseAddress, &count, 9)
            }
        }
        precondition(status == Z_OK)
        return Data(small.prefix(count))
    }

    private static func zstd(_ data: Data) -> Data {
        var small = Data(count: ZSTD_compressBound(data.count))
        let count = small.withUnsafeMutableBytes { target in
            data.withUnsafeBytes { source in
                ZSTD_compress(
                    target.baseAddress, target.count, source.baseAddress, source.count, 9)
            }
        }
        precondition(ZSTD_isError(count) == 0)
        return Data(small.prefix(count))
    }
}
