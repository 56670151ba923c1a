MODULE ROCK
  IMPLICIT NONE
  INTEGER :: NX, NY, NZ
  REAL, ALLOCATABLE :: P(:,:,:), K(:,:,:)
CONTAINS

  SUBROUTINE SETUP(N)
    INTEGER, INTENT(IN) :: N
    INTEGER :: I, J, L
    NX = N
    NY = N
    NZ = N
    ALLOCATE (P(NX, NY, NZ), K(NX, NY, NZ))
    DO L = 1, NZ
      DO J = 1, NY
        DO I = 1, NX
          P(I, J, L) = 1.0 + 0.01 * REAL(MOD(I + 3 * J + 7 * L, 41))
          K(I, J, L) = 0.2 + 0.1 * REAL(MOD(I * J + L, 7))
        END DO
      END DO
    END DO
  END SUBROUTINE SETUP

  SUBROUTINE DISSIP(E)
    DOUBLE PRECISION, INTENT(OUT) :: E
    INTEGER :: I, J, L
    REAL :: G
    E = 0.0D0
    DO I = 2, NX
      DO J = 1, NY
        DO L = 1, NZ
          G = P(I, J, L) - P(I - 1, J, L)
          E = E + K(I, J, L) * G * G
        END DO
      END DO
    END DO
  END SUBROUTINE DISSIP

  SUBROUTINE PULSE(STEP)
    INTEGER, INTENT(IN) :: STEP
    INTEGER :: L
    L = 1 + MOD(STEP * 17, NZ)
    P(:, :, L) = P(:, :, L) * 0.9 + 0.1
  END SUBROUTINE PULSE

END MODULE ROCK

PROGRAM POROUS
  USE ROCK
  IMPLICIT NONE
  INTEGER :: N, STEPS, T
  DOUBLE PRECISION :: E, TOTAL
  CHARACTER(LEN=10) :: ARG
  N = 230
  STEPS = 12
  IF (COMMAND_ARGUMENT_COUNT() .GE. 1) THEN
    CALL GET_COMMAND_ARGUMENT(1, ARG)
    READ (ARG, *) N
  END IF
  CALL SETUP(N)
  TOTAL = 0.0D0
  DO T = 1, STEPS
    CALL PULSE(T)
    CALL DISSIP(E)
    TOTAL = TOTAL + E
  END DO
  WRITE (*, '(A,ES16.8)') 'checksum ', TOTAL
END PROGRAM POROUS
