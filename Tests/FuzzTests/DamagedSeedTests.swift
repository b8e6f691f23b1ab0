import Foundation
import FuzzTargets
import Testing

/// Seeds damaged at random, the same at each run: little next to libFuzzer, but on every machine.
/// `DIPTYCH_DAMAGES` says how often each seed is fed.
@Suite struct DamagedSeedTests {
    private static let requests: [FuzzTarget] = [.request, .head, .token, .webkeys, .schema]

    @Test(arguments: requests.map(\.rawValue))
    func noDamageBringsItsReaderDown(name: String) async throws {
        await #expect(processExitsWith: .success) { [name] in
            let target = try #require(FuzzTarget(rawValue: name))
            let words = ProcessInfo.processInfo.environment["DIPTYCH_DAMAGES"]
            let count = words.flatMap { Int($0) } ?? 40
            let seeds = try Seeds.files(of: target).map { try Data(contentsOf: $0) }
            var dice = Dice(state: UInt64(count))
            for _ in 0..<count {
                for seed in seeds {
                    let data = dice.damaged(seed, seeds)
                    guard case .broken(let why) = target.feed(data) else { continue }
                    Issue.record("\(why): \(data.base64EncodedString())")
                    return
                }
            }
        }
    }
}

/// SplitMix64, and what it does to bytes.
private struct Dice {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(max(1, bound)))
    }

    /// Bytes of marks, numbers at their ends, and what JSON and heads are made of.
    private static let pieces = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "true", "-1", "0", "1e999", "\n", "\n\n",
        "9223372036854775807", "9223372036854775808", "\u{0}", "\u{FFFF}", "$API", "$USER", "=",
        "%00", "..", "/", "\"\"", "{}", "[]", "*", "bytes=", "-", "?1", "gzip", "é",
    ].map { Data($0.utf8) }

    mutating func damaged(_ seed: Data, _ others: [Data]) -> Data {
        var data = seed
        for _ in 0...below(4) {
            let place = below(data.count + 1)
            switch below(6) {
            case 0 where !data.isEmpty:
                data[min(place, data.count - 1)] = UInt8(below(256))
            case 1 where !data.isEmpty:
                let end = min(data.count, place + 1 + below(16))
                data.removeSubrange(min(place, end)..<end)
            case 2: data.insert(contentsOf: Self.pieces[below(Self.pieces.count)], at: place)
            case 3:
                let end = min(data.count, place + 1 + below(64))
                data.insert(contentsOf: Data(data[min(place, end)..<end]), at: place)
            case 4:
                let other = others[below(others.count)]
                let start = below(other.count + 1)
                let end = min(other.count, start + below(64))
                data.insert(contentsOf: Data(other[start..<end]), at: place)
            default: data.insert(UInt8(below(256)), at: place)
            }
        }
        return data
    }
}
