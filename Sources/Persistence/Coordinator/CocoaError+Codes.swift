public import Foundation

// The same codes as members of CocoaError. Source: Apple, CocoaError.
extension CocoaError.Code {
    public static var managedObjectValidation: CocoaError.Code { .init(rawValue: 1550) }
    public static var validationMultipleErrors: CocoaError.Code { .init(rawValue: 1560) }
    public static var validationMissingMandatoryProperty: CocoaError.Code { .init(rawValue: 1570) }
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .init(rawValue: 1580)
    }
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .init(rawValue: 1590)
    }
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .init(rawValue: 1600) }
    public static var validationNumberTooLarge: CocoaError.Code { .init(rawValue: 1610) }
    public static var validationNumberTooSmall: CocoaError.Code { .init(rawValue: 1620) }
    public static var validationDateTooLate: CocoaError.Code { .init(rawValue: 1630) }
    public static var validationDateTooSoon: CocoaError.Code { .init(rawValue: 1640) }
    public static var validationInvalidDate: CocoaError.Code { .init(rawValue: 1650) }
    public static var validationStringTooLong: CocoaError.Code { .init(rawValue: 1660) }
    public static var validationStringTooShort: CocoaError.Code { .init(rawValue: 1670) }
    public static var validationStringPatternMatching: CocoaError.Code { .init(rawValue: 1680) }
    public static var managedObjectContextLocking: CocoaError.Code { .init(rawValue: 132000) }
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .init(rawValue: 132010) }
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .init(rawValue: 133000) }
    public static var managedObjectExternalRelationship: CocoaError.Code { .init(rawValue: 133010) }
    public static var managedObjectMerge: CocoaError.Code { .init(rawValue: 133020) }
    public static var managedObjectConstraintMerge: CocoaError.Code { .init(rawValue: 133021) }
    public static var persistentStoreInvalidType: CocoaError.Code { .init(rawValue: 134000) }
    public static var persistentStoreTypeMismatch: CocoaError.Code { .init(rawValue: 134010) }
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .init(rawValue: 134020) }
    public static var persistentStoreSave: CocoaError.Code { .init(rawValue: 134030) }
    public static var persistentStoreIncompleteSave: CocoaError.Code { .init(rawValue: 134040) }
    public static var persistentStoreSaveConflicts: CocoaError.Code { .init(rawValue: 134050) }
    public static var coreData: CocoaError.Code { .init(rawValue: 134060) }
    public static var persistentStoreOperation: CocoaError.Code { .init(rawValue: 134070) }
    public static var persistentStoreOpen: CocoaError.Code { .init(rawValue: 134080) }
    public static var persistentStoreTimeout: CocoaError.Code { .init(rawValue: 134090) }
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        .init(rawValue: 134091)
    }
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        .init(rawValue: 134100)
    }
    public static var migration: CocoaError.Code { .init(rawValue: 134110) }
    public static var migrationCancelled: CocoaError.Code { .init(rawValue: 134120) }
    public static var migrationMissingSourceModel: CocoaError.Code { .init(rawValue: 134130) }
    public static var migrationMissingMappingModel: CocoaError.Code { .init(rawValue: 134140) }
    public static var migrationManagerSourceStore: CocoaError.Code { .init(rawValue: 134150) }
    public static var migrationManagerDestinationStore: CocoaError.Code { .init(rawValue: 134160) }
    public static var entityMigrationPolicy: CocoaError.Code { .init(rawValue: 134170) }
    public static var sqlite: CocoaError.Code { .init(rawValue: 134180) }
    public static var inferredMappingModel: CocoaError.Code { .init(rawValue: 134190) }
    public static var externalRecordImport: CocoaError.Code { .init(rawValue: 134200) }
}

extension CocoaError {
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        .validationMissingMandatoryProperty
    }
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .validationRelationshipLacksMinimumCount
    }
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .validationRelationshipExceedsMaximumCount
    }
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        .validationRelationshipDeniedDelete
    }
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
    public static var validationStringPatternMatching: CocoaError.Code {
        .validationStringPatternMatching
    }
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        .persistentStoreCoordinatorLocking
    }
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        .managedObjectReferentialIntegrity
    }
    public static var managedObjectExternalRelationship: CocoaError.Code {
        .managedObjectExternalRelationship
    }
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
    public static var managedObjectConstraintMerge: CocoaError.Code {
        .managedObjectConstraintMerge
    }
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        .persistentStoreIncompatibleSchema
    }
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
    public static var persistentStoreIncompleteSave: CocoaError.Code {
        .persistentStoreIncompleteSave
    }
    public static var persistentStoreSaveConflicts: CocoaError.Code {
        .persistentStoreSaveConflicts
    }
    public static var coreData: CocoaError.Code { .coreData }
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        .persistentStoreUnsupportedRequestType
    }
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        .persistentStoreIncompatibleVersionHash
    }
    public static var migration: CocoaError.Code { .migration }
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
    public static var migrationMissingMappingModel: CocoaError.Code {
        .migrationMissingMappingModel
    }
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
    public static var migrationManagerDestinationStore: CocoaError.Code {
        .migrationManagerDestinationStore
    }
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
    public static var sqlite: CocoaError.Code { .sqlite }
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }

    /// The objects the error is about.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
    /// The stores the error is about.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
    /// The conflicts that stopped a save.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
    public var validationPredicate: NSPredicate? {
        userInfo[NSValidationPredicateErrorKey] as? NSPredicate
    }
}
