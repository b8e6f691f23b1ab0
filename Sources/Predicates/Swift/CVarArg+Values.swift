public import Foundation
internal import Platform

// What Apple's overlay makes an argument of formats: `date as CVarArg`, `ids as CVarArg`.
//
// `NSPredicate(format:_:)` takes the values themselves. A C function is given a Foundation object
// of the same value.

extension Date: @retroactive CVarArg {
    /// An `NSDate` for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self as NSDate) }
}

extension UUID: @retroactive CVarArg {
    /// An `NSUUID` for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self as NSUUID) }
}

extension URL: @retroactive CVarArg {
    /// An `NSURL` for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self as NSURL) }
}

extension Data: @retroactive CVarArg {
    /// An `NSData` for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self as NSData) }
}

extension Decimal: @retroactive CVarArg {
    /// An `NSDecimalNumber` for C functions.
    public var _cVarArgEncoding: [Int] {
        ArgumentObjects.encoding(NSDecimalNumber(decimal: self))
    }
}

extension NSNumber: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSDate: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSArray: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSSet: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSNull: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSUUID: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSURL: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSData: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSOrderedSet: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension NSDictionary: @retroactive CVarArg {
    /// The object itself for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(self) }
}

extension Array: @retroactive CVarArg {
    /// An `NSArray` for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(NSArray(array: self)) }
}

extension Set: @retroactive CVarArg {
    /// An `NSSet` for C functions.
    public var _cVarArgEncoding: [Int] { ArgumentObjects.encoding(NSSet(array: Array(self))) }
}

/// Keeps the objects last given to C functions alive, since nobody says when one is done with its
/// arguments.
package enum ArgumentObjects {
    /// More than any one call is given.
    private static let countMax = 1024
    private static let kept = Lock(Kept())

    private struct Kept: @unchecked Sendable {
        // @unchecked: the objects are kept, and never used from here.
        var objects: [AnyObject] = []
        var next = 0
    }

    /// The object's address, as a C function takes it.
    package static func encoding(_ object: AnyObject) -> [Int] {
        let address = Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        let holder = UncheckedObject(object: object)
        kept.withLock { kept in
            if kept.objects.count < countMax {
                kept.objects.append(holder.object)
            } else {
                kept.objects[kept.next] = holder.object
            }
            kept.next = (kept.next + 1) % countMax
        }
        return [address]
    }

    private struct UncheckedObject: @unchecked Sendable {
        // @unchecked: it crosses into the lock only.
        let object: AnyObject
    }
}
